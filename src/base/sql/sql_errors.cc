#include "base/sql/sql_errors.h"

#include <atomic>

namespace attune {
namespace {

std::atomic<int64_t> num_errors = 0;

}  // namespace

absl::Status CountedSqlError(absl::Status status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kPermissionDenied:
      ++num_errors;
      return status;
    default:
      return status;  // also answers of stores, such as that something is not there
  }
}

int64_t NumSqlErrors() { return num_errors; }

}  // namespace attune

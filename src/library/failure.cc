#include "library/failure.h"

#include "base/face.h"

namespace attune::library {
namespace {

attune_code CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ATTUNE_OK;
    case absl::StatusCode::kNotFound:
      return IsMissingFile(status) ? ATTUNE_CANNOT_READ : ATTUNE_NOT_FOUND;
    case absl::StatusCode::kUnimplemented:
      return ATTUNE_UNSUPPORTED;
    case absl::StatusCode::kCancelled:
      return ATTUNE_CANCELLED;
    case absl::StatusCode::kResourceExhausted:
      return ATTUNE_OUT_OF_MEMORY;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
      return ATTUNE_UNAVAILABLE;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
      return ATTUNE_INTERNAL;
    default:
      return ATTUNE_INVALID_ARGUMENT;
  }
}

}  // namespace

void NameFace() {
  if (CurrentFace() == Face::kCommandLine) SetFace(Face::kCpp);
}

attune_code Report(const absl::Status& status, attune_failure** failure) {
  const attune_code code = CodeOf(status);
  if (code != ATTUNE_OK && failure != nullptr)
    *failure = new attune_failure{.code = code, .message = std::string(status.message())};
  return code;
}

attune_code ReportOutOfMemory(attune_failure** failure) {
  if (failure != nullptr) *failure = nullptr;
  return ATTUNE_OUT_OF_MEMORY;
}

}  // namespace attune::library

attune_code attune_failure_code(const attune_failure* failure) {
  return failure == nullptr ? ATTUNE_OUT_OF_MEMORY : failure->code;
}

const char* attune_failure_message(const attune_failure* failure) {
  return failure == nullptr ? "out of memory" : failure->message.c_str();
}

void attune_failure_free(attune_failure* failure) { delete failure; }

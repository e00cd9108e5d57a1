// What programs do with records of tuning.
#include "api/records.h"

#include "attune/compiler.h"
#include "base/status.h"
#include "library/failure.h"
#include "library/texts.h"

using attune::library::CheckNotNull;
using attune::library::Guard;

attune_code attune_copy_records(const char* from, const char* to, const char* run, int is_best_only,
                                int64_t* count, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(from, to));
    ASSIGN_OR_RETURN(const int64_t copied,
                     attune::CopyRecords(from, to, {.run = attune::library::TextOr(run)}, is_best_only != 0));
    if (count != nullptr) *count = copied;
    return absl::OkStatus();
  });
}

attune_code attune_records_path(char** path, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(path));
    ASSIGN_OR_RETURN(const std::string own, attune::DefaultRecordsPath());
    *path = attune::library::NewText(own);
    return absl::OkStatus();
  });
}

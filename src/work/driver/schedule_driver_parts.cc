// Ends a split job once its parts have ended.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "work/driver/schedule_driver.h"

namespace attune {

absl::Status ScheduleDriver::FollowParts() {
  for (const size_t part : split_.TakeHopeless()) RETURN_IF_ERROR(Cancel(part));
  for (const size_t whole : split_.TakeReady()) RETURN_IF_ERROR(FollowPartsOf(whole));
  return absl::OkStatus();
}

absl::Status ScheduleDriver::FollowPartsOf(size_t whole) {
  JobManager& job = jobs_.at(whole);
  ASSIGN_OR_RETURN(const auto parts, store_.Jobs(schedule_.id, {.parts_of = whole}));
  std::string failure;
  for (const auto& [number, part] : parts) {
    if (part.state == JobState::kDone) continue;
    // Others were cancelled for the sake of the one that has failed.
    const bool has_failed = part.state == JobState::kFailed;
    if (!has_failed && !failure.empty()) continue;
    failure = absl::StrCat("part ", part.spec.part, has_failed ? ": " : " was cancelled", part.error);
    if (has_failed) break;
  }
  if (failure.empty() && options_.gather) {
    absl::StatusOr<std::vector<JobFile>> files = options_.gather(job.record(), parts);
    if (absl::IsUnavailable(files.status())) return files.status();
    if (files.ok()) {
      job.TakeFiles(*std::move(files));
      RETURN_IF_ERROR(store_.SetJob(schedule_.id, whole, job.record()));
    } else {
      failure = std::string(files.status().message());
    }
  }
  if (failure.empty()) {
    Wait(whole);
    return absl::OkStatus();
  }
  job.Fail(failure);
  return SetOver(whole);
}

}  // namespace attune

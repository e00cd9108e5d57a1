#include "service/queue/job_control.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr int64_t kJobsAtOnce = 300;  // so that the schedule continues in between

}  // namespace

absl::StatusOr<proto::Job> JobControl::Cancel(const JobQuery& query, const std::string& by) {
  absl::StatusOr<proto::Job> cancelled =
      queue_.Ask([&](LiveSchedule& schedule) -> absl::StatusOr<proto::Job> {
        const KnownJobs& known = schedule.view();
        ASSIGN_OR_RETURN(const auto found, known.Find(query));
        RETURN_IF_ERROR(schedule.Cancel(found.first));
        ASSIGN_OR_RETURN(const auto now, known.Find(query));
        return known.Describe(now.first, now.second);
      });
  Log(LogLevel::kInfo, "job is cancelled", "job", query.id, "by", by, "result",
      cancelled.status().ToString());
  return cancelled;
}

absl::StatusOr<bool> JobControl::RemoveJobs(const std::string& owner) {
  return queue_.Ask([&](LiveSchedule& schedule) -> absl::StatusOr<bool> {
    const KnownJobs& known = schedule.view();
    ASSIGN_OR_RETURN(
        const auto unfinished,
        known.Jobs(
            {.owner = owner, .state = JobState::kUnfinished, .with_parts = true, .most = kJobsAtOnce}));
    for (const auto& [number, job] : unfinished) RETURN_IF_ERROR(schedule.Cancel(number));
    if (!unfinished.empty()) return false;
    ASSIGN_OR_RETURN(const auto over, known.Jobs({.owner = owner, .with_parts = true, .most = kJobsAtOnce}));
    std::vector<size_t> numbers;
    for (const auto& [number, job] : over) {
      RETURN_IF_ERROR(files_.ForgetAllBut(job.spec.base, {}));
      numbers.push_back(number);
    }
    RETURN_IF_ERROR(schedule.RemoveJobs(numbers));
    return over.empty();
  });
}

}  // namespace attune

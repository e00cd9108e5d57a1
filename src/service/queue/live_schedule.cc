#include "service/queue/live_schedule.h"

#include <algorithm>
#include <utility>

#include "base/status.h"

namespace attune {

LiveSchedule::LiveSchedule(JobStore& store, ScheduleRecord record, ScheduleDriverOptions driving,
                           RunnerHub& hub, const DeviceDirectory& devices, FleetStore& fleet)
    : store_(store),
      id_(record.id),
      driver_(std::move(record), std::move(driving), store, hub),
      hosts_(hub, devices, fleet, driver_),
      known_(store, id_, &driver_, &hosts_) {}

void LiveSchedule::Add(size_t number, const JobRecord& job) {
  hosts_.Expect(job.spec);
  driver_.Add(number, job);
}

absl::Status LiveSchedule::Resume() {
  ASSIGN_OR_RETURN(const auto unfinished,
                   store_.Jobs(id_, {.state = JobState::kUnfinished, .with_parts = true}));
  for (const auto& [number, job] : unfinished) Add(number, job);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::map<size_t, JobRecord>>> LiveSchedule::AddJobs(
    const std::vector<JobSubmission>& submissions) {
  auto added = store_.AddJobs(id_, submissions);
  // They may be there although the caller is told otherwise.
  if (absl::IsUnavailable(added.status())) broken_ = added.status();
  if (!added.ok()) return added;
  for (const std::map<size_t, JobRecord>& jobs : *added) {
    for (const auto& [number, job] : jobs) {
      // One that comes twice is known.
      if (job.state == JobState::kUnfinished && !driver_.jobs().contains(number)) Add(number, job);
    }
  }
  return added;
}

absl::Status LiveSchedule::Cancel(size_t number) {
  const absl::Status cancelled = driver_.Cancel(number);
  if (!cancelled.ok()) broken_ = cancelled;
  return cancelled;
}

std::set<std::string_view> LiveSchedule::LiveJobs() const {
  std::set<std::string_view> ids;
  for (const auto& [number, job] : driver_.jobs()) ids.insert(job.record().spec.id);
  return ids;
}

int64_t LiveSchedule::NumRunning() const {
  return std::ranges::count_if(driver_.jobs(), [](const auto& numbered) { return numbered.second.runs(); });
}

}  // namespace attune

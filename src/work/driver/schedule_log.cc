#include "work/driver/schedule_log.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

ScheduleLog::ScheduleLog(ScheduleRecord schedule, bool is_endless, JobStore& store, const Clock& clock,
                         OnStored on_stored)
    : schedule_(std::move(schedule)),
      is_endless_(is_endless),
      store_(store),
      clock_(clock),
      on_stored_(std::move(on_stored)),
      before_(schedule_.elapsed),
      begin_(clock.Now()) {}

absl::Status ScheduleLog::EndStage(size_t number, const JobRecord& job, StageRecord stage) {
  stage.end_ms = clock_.WallMillis();
  RETURN_IF_ERROR(store_.EndStage(schedule_.id, number, job, stage));
  if (on_stored_) on_stored_(job, stage);
  if (is_endless_) return absl::OkStatus();
  schedule_.jobs[number] = job;
  schedule_.stages.push_back(std::move(stage));
  return absl::OkStatus();
}

absl::Status ScheduleLog::SetJob(size_t number, const JobRecord& job) {
  RETURN_IF_ERROR(store_.SetJob(schedule_.id, number, job));
  if (!is_endless_) schedule_.jobs[number] = job;
  return absl::OkStatus();
}

absl::StatusOr<std::map<size_t, JobRecord>> ScheduleLog::PartsOf(size_t whole) {
  return store_.Jobs(schedule_.id, {.parts_of = whole});
}

absl::StatusOr<std::string> ScheduleLog::FolderOf(size_t number) const {
  std::string folder = absl::StrCat(store_.folder(), "/", schedule_.id, "/", number);
  if (is_endless_) return folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return InvalidInput(folder, ": cannot be made: ", error.message());
  return folder;
}

void ScheduleLog::SetHost(const HostResources& host) {
  schedule_.host = host;
  // Stages of a larger pool have used processors that this one lacks.
  const auto is_missing = [&](int processor) { return processor >= host.processors; };
  for (StageRecord& stage : schedule_.stages) {
    std::erase_if(stage.processors, is_missing);
    std::erase_if(stage.held, is_missing);
  }
}

}  // namespace attune

#include "service/queue/schedule_loop.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kStepSeconds = 0.1;
constexpr double kUpdateSeconds = 0.5;  // between two looks at the fleet's devices
constexpr double kRetrySeconds = 5;
constexpr char kScheduleKey[] = "server";

absl::Status ServerIsEnding() { return absl::UnavailableError("the server is ending"); }

}  // namespace

struct ScheduleLoop::Resting {
  Resting(std::shared_ptr<SqlJobStore> opened, const std::string& schedule)
      : store(std::move(opened)), known(*store, schedule, nullptr, nullptr) {}

  const std::shared_ptr<SqlJobStore> store;
  const KnownJobs known;
};

void ScheduleLoop::Stop() {
  queue_.Close(ServerIsEnding());
  loop_.Stop();
  queue_.Refuse(ServerIsEnding());  // without a thread, some may wait
}

double ScheduleLoop::Step() {
  const absl::Status ended = Serve();
  schedule_ = nullptr;
  hub_.EndAll();
  // Whatever else has happened, the store is opened anew.
  if (!absl::IsResourceExhausted(ended)) {
    resting_ = nullptr;
    store_ = nullptr;
  }
  queue_.Refuse(absl::UnavailableError(absl::StrCat("jobs cannot be stored now: ", ended.message())),
                resting_);
  if (!queue_.is_closed())
    Log(LogLevel::kError, "jobs wait until they can be kept", "reason", ended.message());
  return kRetrySeconds;
}

absl::Status ScheduleLoop::Serve() {
  if (store_ == nullptr) {
    ASSIGN_OR_RETURN(store_, SqlJobStore::Open(parts_.location, driving_.kinds));
  }
  ASSIGN_OR_RETURN(ScheduleRecord record, store_->ResumeOrBeginEndless(kScheduleKey));
  const auto resting = std::make_shared<const Resting>(store_, record.id);
  resting_ = std::shared_ptr<const KnownJobs>(resting, &resting->known);
  LiveSchedule schedule(*store_, std::move(record), driving_, hub_, parts_.devices, parts_.store);
  RETURN_IF_ERROR(schedule.Resume());
  RETURN_IF_ERROR(credentials_.RevokeAll());
  schedule.hosts().UpdateDevices();
  schedule_ = &schedule;
  return Run(schedule);
}

absl::Status ScheduleLoop::Run(LiveSchedule& schedule) {
  queue_.Open();
  Stopwatch since_update;
  while (!queue_.is_closed()) {
    RETURN_IF_ERROR(schedule.hosts().UpdateMachines());
    if (since_update.Seconds() > kUpdateSeconds) {
      since_update.Lap();
      RETURN_IF_ERROR(Update(schedule));
    }
    RETURN_IF_ERROR(quotas_.Enforce(schedule.driver()));
    queue_.Run(schedule);
    RETURN_IF_ERROR(schedule.broken());
    if (schedule.hosts().is_out_of_date()) schedule.hosts().UpdateDevices();
    RETURN_IF_ERROR(schedule.driver().Step(kStepSeconds));
  }
  return schedule.driver().StopAll();
}

absl::Status ScheduleLoop::Update(LiveSchedule& schedule) {
  schedule.hosts().UpdateDevices();
  // The credentials of jobs that are over are worth nothing any more.
  RETURN_IF_ERROR(credentials_.KeepOnly(schedule.LiveJobs()));
  counters_.Set(std::ssize(schedule.driver().jobs()), schedule.NumRunning(), schedule.hosts().num_machines());
  return absl::OkStatus();
}

absl::StatusOr<JobSupplies> ScheduleLoop::Supply(const std::string& job) {
  ASSIGN_OR_RETURN(const auto found, schedule_->view().Find({.id = job}));
  const JobRecord& record = found.second;
  JobSupplies supplies = {.spec = record.spec, .files = record.files, .files_owner = record.spec.base};
  if (record.spec.on.empty()) return supplies;
  ASSIGN_OR_RETURN(supplies.credentials, credentials_.New(record.spec));
  return supplies;
}

}  // namespace attune

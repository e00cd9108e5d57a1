#include "jobs/schedule_driver.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "jobs/kind.h"
#include "jobs/stage_prior.h"

namespace attune {
namespace {

constexpr double kTickSeconds = 0.1;
// The longest that cancelled stages may take to end.
constexpr double kGraceSeconds = 5;

JobPlace PlaceOf(const std::string& id, const std::string& folder, const LocalHost& host) {
  JobPlace place;
  place.id = id;
  place.folder = folder;
  place.processors = static_cast<int>(host.building.size());
  for (const DeviceResource& device : host.resources.devices) place.devices.push_back(device.key);
  return place;
}

double EndOf(const ScheduleRecord& schedule) {
  double end = 0;
  for (const StageRecord& stage : schedule.stages) end = std::max(end, stage.end);
  return end;
}

}  // namespace

absl::Status CheckJobs(const std::vector<JobSpec>& jobs, const LocalHost& host) {
  Scheduler scheduler(*FindSchedulingStrategy("first_come"));
  scheduler.AddHost(host.resources);
  for (const JobSpec& job : jobs) {
    RETURN_IF_ERROR(CheckSpec(job));
    const JobKind* kind = FindJobKind(job.kind);
    if (kind->foreseen == nullptr) continue;
    for (const JobStage& stage : kind->foreseen(job, PlaceOf(job.id, "", host))) {
      RETURN_IF_ERROR(scheduler.CheckGrantable({.id = job.id}, stage));
    }
  }
  return absl::OkStatus();
}

ScheduleDriver::ScheduleDriver(ScheduleRecord schedule, ScheduleDriverOptions options, JobStore& store,
                               Runners& runners, const Clock& clock)
    : schedule_(std::move(schedule)),
      options_(std::move(options)),
      strategy_(options_.strategy),
      store_(store),
      runners_(runners),
      clock_(clock),
      scheduler_(*strategy_),
      before_(EndOf(schedule_)),
      begin_(clock.Now()) {
  schedule_.strategy = strategy_->name;
  schedule_.host = options_.host.resources;
  // Stages of a larger pool have used processors that this one lacks.
  const auto is_missing = [&](int processor) { return processor >= schedule_.host.processors; };
  for (StageRecord& stage : schedule_.stages) {
    std::erase_if(stage.processors, is_missing);
    std::erase_if(stage.held, is_missing);
  }
  scheduler_.AddHost(schedule_.host);
  for (size_t index = 0; index < schedule_.jobs.size(); ++index) {
    const std::string folder = absl::StrCat(store.folder(), "/", schedule_.id, "/", index);
    const JobRecord& record = schedule_.jobs[index];
    jobs_.emplace_back(record, PlaceOf(record.spec.id, folder, options_.host),
                       options_.host.device.fingerprint);
    if (record.state == JobState::kUnfinished) waiting_.push_back(index);
  }
  std::ranges::sort(waiting_, std::ranges::greater(), [&](size_t index) {
    StageRequest request;
    request.job = static_cast<int64_t>(index);
    request.remaining = StagePrior(schedule_.jobs[index].spec.kind, "").median;
    return std::pair(strategy_->key(request, jobs_[index].facts()), index);
  });
}

double ScheduleDriver::Now() const { return before_ + clock_.Now() - begin_; }

void ScheduleDriver::Use(const SchedulingStrategy& strategy) {
  strategy_ = &strategy;
  schedule_.strategy = strategy.name;
  scheduler_.Use(strategy);
}

absl::Status ScheduleDriver::Learn() {
  constexpr int64_t kMost = 10'000;
  ASSIGN_OR_RETURN(const std::vector<PastStage> stages, store_.PastStages(kMost));
  for (const PastStage& stage : stages) {
    predictions_.Add(StageLabels(stage.kind, stage.subject, stage.host, stage.name),
                     OwnOrPrior(stage.kind, stage.name, stage.own), stage.seconds);
  }
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Admit() {
  while (!waiting_.empty() && scheduler_.num_jobs() < options_.jobs_at_once) {
    const size_t index = waiting_.back();
    waiting_.pop_back();
    JobManager& job = jobs_[index];
    const absl::StatusOr<int64_t> number =
        scheduler_.Submit(job.facts(), job.Ask(predictions_, Now()), Now());
    if (!number.ok()) {
      job.Fail(std::string(number.status().message()));
      RETURN_IF_ERROR(SetFailed(index));
      continue;
    }
    by_number_[*number] = index;
    numbers_[index] = *number;
  }
  return absl::OkStatus();
}

RunStage ScheduleDriver::Command(const JobManager& job, const Holding& holding) const {
  const LocalHost& host = options_.host;
  const std::string& device = host.resources.devices.front().key;
  const bool measures = job.stage().NeedsExclusively(device);
  RunStage run;
  if (!strategy_->is_coordinated) {
    run.processors = measures ? host.measuring : host.building;
    return run;
  }
  for (const int processor : holding.granted)
    run.processors.push_back(host.numbers[static_cast<size_t>(processor)]);
  // A stage that needs no processor must not run on the device's either.
  if (run.processors.empty()) run.processors = host.building;
  run.lease = measures ? StageLease::kExclusive : StageLease::kShared;
  run.isolation = host.isolation;
  return run;
}

absl::Status ScheduleDriver::Start(const StageStart& start) {
  const size_t index = by_number_.at(start.job);
  JobManager& job = jobs_[index];
  int64_t runner = job.runner();
  if (runner == 0) {
    std::error_code error;
    const std::string& folder = job.place().folder;
    std::filesystem::create_directories(folder, error);
    if (error) return InvalidInput(folder, ": cannot be made: ", error.message());
    const absl::StatusOr<int64_t> started = runners_.Start();
    if (!started.ok()) {
      job.Start(0, start.holding, Now());
      return Record(index, job.Lose(std::string(started.status().message()), Now()));
    }
    runner = *started;
    by_runner_[runner] = index;
  }
  job.Start(runner, start.holding, Now());
  if (const std::optional<AssignJob> assign = job.Assignment()) runners_.Send(runner, *assign);
  runners_.Send(runner, Command(job, start.holding));
  return absl::OkStatus();
}

void ScheduleDriver::Leave(size_t index) {
  by_number_.erase(numbers_.at(index));
  numbers_.erase(index);
}

absl::Status ScheduleDriver::SetFailed(size_t index) {
  schedule_.jobs[index] = jobs_[index].record();
  return store_.SetJob(schedule_.id, index, schedule_.jobs[index]);
}

absl::Status ScheduleDriver::Record(size_t index, const StageRecord& stage) {
  JobManager& job = jobs_[index];
  schedule_.stages.push_back(stage);
  schedule_.jobs[index] = job.record();
  RETURN_IF_ERROR(store_.EndStage(schedule_.id, index, schedule_.jobs[index], stage));
  std::optional<NextStage> next;
  if (!job.is_over()) next = job.Ask(predictions_, Now());
  if (const absl::Status status = scheduler_.Done(numbers_.at(index), std::move(next), Now()); !status.ok()) {
    job.Fail(std::string(status.message()));
    RETURN_IF_ERROR(SetFailed(index));
  }
  if (!job.is_over()) return absl::OkStatus();
  Leave(index);
  if (job.runner() != 0) {
    by_runner_.erase(job.runner());
    runners_.End(job.runner());
  }
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Handle(const RunnerEvent& event) {
  const auto found = by_runner_.find(event.runner);
  if (found == by_runner_.end()) return absl::OkStatus();
  const size_t index = found->second;
  JobManager& job = jobs_[index];
  if (const auto* lost = std::get_if<RunnerLost>(&event.what)) {
    by_runner_.erase(found);
    if (job.runs()) return Record(index, job.Lose(lost->reason, Now()));
    job.LoseWaiting(lost->reason);
    if (!job.is_over()) return scheduler_.Change(numbers_.at(index), job.Ask(predictions_, Now()), Now());
    scheduler_.Drop(numbers_.at(index));
    Leave(index);
    return SetFailed(index);
  }
  const auto* ended = std::get_if<RunnerStageEnded>(&std::get<RunnerReport>(event.what));
  if (ended == nullptr || !job.runs()) return absl::OkStatus();
  const StageRecord stage = job.End(*ended, predictions_, Now());
  // A job that has come to nothing leaves its runner without one.
  if (job.runner() == 0) {
    by_runner_.erase(event.runner);
    runners_.End(event.runner);
  }
  return Record(index, stage);
}

absl::Status ScheduleDriver::StopAll() {
  const auto running = [&] { return std::ranges::any_of(jobs_, &JobManager::runs); };
  for (const JobManager& job : jobs_)
    if (job.runs()) runners_.Send(job.runner(), CancelStage{});
  const Stopwatch watch(clock_);
  while (running() && watch.Seconds() < kGraceSeconds) {
    for (const RunnerEvent& event : runners_.Await(kTickSeconds)) {
      const auto found = by_runner_.find(event.runner);
      if (found == by_runner_.end() || !jobs_[found->second].runs()) continue;
      const auto* report = std::get_if<RunnerReport>(&event.what);
      if (report != nullptr && std::holds_alternative<RunnerRegistered>(*report)) continue;
      // The stage was cut short, so it is run again, whatever it has reached.
      RETURN_IF_ERROR(Record(found->second, jobs_[found->second].Stop(Now())));
    }
  }
  for (size_t index = 0; index < jobs_.size(); ++index)
    if (jobs_[index].runs()) RETURN_IF_ERROR(Record(index, jobs_[index].Stop(Now())));
  for (const auto& [runner, index] : by_runner_) runners_.End(runner);
  return absl::CancelledError("stopped");
}

absl::Status ScheduleDriver::Run(const Cancellation& cancellation, const std::function<void()>& changed) {
  RETURN_IF_ERROR(Learn());
  while (!waiting_.empty() || !numbers_.empty()) {
    if (cancellation.is_cancelled()) return StopAll();
    RETURN_IF_ERROR(Admit());
    for (const StageStart& start : scheduler_.Decide(Now())) RETURN_IF_ERROR(Start(start));
    if (changed) changed();
    for (const RunnerEvent& event : runners_.Await(kTickSeconds)) RETURN_IF_ERROR(Handle(event));
  }
  if (changed) changed();
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Finish() { return store_.Finish(schedule_.id); }

}  // namespace attune

#include "work/driver/schedule_driver.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "work/driver/local_host.h"

namespace attune {
namespace {

constexpr double kTickSeconds = 0.1;
// The longest that cancelled stages may take to end.
constexpr double kGraceSeconds = 5;
constexpr char kStopped[] = "the schedule was stopped";

JobPlace PlaceOf(const std::string& id, const std::string& folder, const LocalHost& host) {
  JobPlace place;
  place.id = id;
  place.folder = folder;
  place.processors = static_cast<int>(host.building.size());
  for (const DeviceResource& device : host.resources.devices) place.devices.push_back(device.key);
  return place;
}

// Why the stage of a job that is over is cut short.
std::string EndOf(const JobManager& job) {
  return job.record().state == JobState::kFailed ? job.record().error : "is cancelled";
}

}  // namespace

absl::Status CheckJobs(const std::vector<JobSpec>& jobs, const LocalHost& host, JobKinds kinds) {
  Scheduler scheduler(*FindSchedulingStrategy("first_come"));
  scheduler.AddHost(host.resources);
  for (const JobSpec& job : jobs) {
    RETURN_IF_ERROR(kinds.Check(job));
    const JobKind* kind = kinds.Find(job.kind);
    if (kind->foreseen == nullptr) continue;
    for (const JobStage& stage : kind->foreseen(job, PlaceOf(job.id, "", host))) {
      RETURN_IF_ERROR(scheduler.CheckGrantable({.id = job.id}, stage));
    }
  }
  return absl::OkStatus();
}

ScheduleDriver::ScheduleDriver(ScheduleRecord schedule, ScheduleDriverOptions options, JobStore& store,
                               Runners& runners, const Clock& clock)
    : options_(std::move(options)),
      log_(std::move(schedule), options_.is_endless, store, clock, options_.on_stored),
      predictions_(store),
      scheduled_(*options_.strategy),
      runners_(runners) {
  log_.SetStrategy(options_.strategy->name);
  const std::vector<JobRecord>& jobs = log_.schedule().jobs;
  for (size_t number = 0; number < jobs.size(); ++number) Add(number, jobs[number]);
}

void ScheduleDriver::Add(size_t number, JobRecord job) {
  const bool waits = job.state == JobState::kUnfinished;
  const bool has_parts = job.spec.parts > 1 && job.spec.part == 0;
  if (waits && job.whole != 0) split_.AddPart(job.whole, number);
  // One that has begun has what its parts have left.
  const bool follows = has_parts && job.position == 0;
  std::string subject = options_.kinds.SubjectOf(job.spec);
  jobs_.try_emplace(number, std::move(job), std::move(subject));
  if (!waits) return;
  if (follows) {
    split_.AddWhole(number);
  } else {
    Wait(number);
  }
}

absl::Status ScheduleDriver::Cancel(size_t number) {
  return EndSoon(number, [](JobManager& job) { job.Cancel(); });
}

absl::Status ScheduleDriver::Fail(size_t number, const std::string& why) {
  return EndSoon(number, [&](JobManager& job) { job.Fail(why); });
}

absl::Status ScheduleDriver::EndSoon(size_t number, const std::function<void(JobManager& job)>& end) {
  const auto found = jobs_.find(number);
  if (found == jobs_.end() || found->second.is_over()) return absl::OkStatus();
  JobManager& job = found->second;
  for (const size_t part : split_.UnfinishedOf(number)) RETURN_IF_ERROR(Cancel(part));
  split_.Forget(number);
  end(job);
  if (!job.runs()) return SetOver(number);
  runners_.Cancel(job.runner(), Now() + kGraceSeconds);
  return log_.SetJob(number, job.record());
}

absl::Status ScheduleDriver::Step(double seconds) {
  RETURN_IF_ERROR(StartStages());
  return HandleEvents(seconds);
}

absl::Status ScheduleDriver::Run(const Cancellation& cancellation, const std::function<void()>& changed) {
  while (!admission_.is_empty() || !scheduled_.is_empty() || !split_.is_empty()) {
    if (cancellation.is_cancelled()) return StopAll();
    RETURN_IF_ERROR(StartStages());
    if (changed) changed();
    RETURN_IF_ERROR(HandleEvents(kTickSeconds));
  }
  if (changed) changed();
  return absl::OkStatus();
}

absl::Status ScheduleDriver::StopAll() {
  const auto runs = [](const auto& entry) { return entry.second.runs(); };
  for (const auto& [number, job] : jobs_)
    if (job.runs()) runners_.Send(job.runner(), CancelStage{});
  const double end = Now() + kGraceSeconds;
  while (std::ranges::any_of(jobs_, runs) && Now() < end) {
    for (const RunnerEvent& event : runners_.Await(kTickSeconds)) {
      const std::optional<size_t> number = runners_.JobOf(event.runner);
      if (!number || !jobs_.at(*number).runs()) continue;
      const auto* report = std::get_if<RunnerReport>(&event.what);
      if (report != nullptr && std::holds_alternative<RunnerRegistered>(*report)) continue;
      // The stage was cut short, so it is run again, whatever it has reached.
      RETURN_IF_ERROR(Record(*number, StopStage(*number, kStopped)));
    }
  }
  std::vector<size_t> left;
  for (const auto& [number, job] : jobs_)
    if (job.runs()) left.push_back(number);
  for (const size_t number : left) RETURN_IF_ERROR(Record(number, StopStage(number, kStopped)));
  runners_.EndAll();
  return absl::CancelledError("stopped");
}

absl::Status ScheduleDriver::Finish() { return log_.Finish(); }

absl::Status ScheduleDriver::StartStages() {
  RETURN_IF_ERROR(predictions_.LearnOnce());
  RETURN_IF_ERROR(FollowParts());
  RETURN_IF_ERROR(MoveFromBusyHost());
  RETURN_IF_ERROR(Admit());
  for (const auto& [number, holding] : scheduled_.Decide(Now())) RETURN_IF_ERROR(Start(number, holding));
  return absl::OkStatus();
}

absl::Status ScheduleDriver::HandleEvents(double seconds) {
  for (const RunnerEvent& event : runners_.Await(seconds)) RETURN_IF_ERROR(Handle(event));
  for (const size_t number : runners_.Overdue(Now()))
    RETURN_IF_ERROR(Record(number, StopStage(number, EndOf(jobs_.at(number)))));
  return absl::OkStatus();
}

absl::Status ScheduleDriver::FollowParts() {
  for (const size_t part : split_.TakeHopeless()) RETURN_IF_ERROR(Cancel(part));
  for (const size_t whole : split_.TakeReady()) RETURN_IF_ERROR(FollowPartsOf(whole));
  return absl::OkStatus();
}

absl::Status ScheduleDriver::FollowPartsOf(size_t whole) {
  JobManager& job = jobs_.at(whole);
  ASSIGN_OR_RETURN(const auto parts, log_.PartsOf(whole));
  std::string failure = FailureOfParts(parts);
  if (failure.empty() && options_.gather) {
    absl::StatusOr<std::vector<JobFile>> files = options_.gather(job.record(), parts);
    if (absl::IsUnavailable(files.status())) return files.status();
    if (files.ok()) {
      job.TakeFiles(*std::move(files));
      RETURN_IF_ERROR(log_.SetJob(whole, job.record()));
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

absl::Status ScheduleDriver::Start(size_t number, const Holding& holding) {
  JobManager& job = jobs_.at(number);
  int64_t runner = job.runner();
  if (runner == 0) {
    const absl::StatusOr<int64_t> started = runners_.Start(number, holding.host);
    if (!started.ok()) {
      job.Start(0, holding, hosts_.at(holding.host).name, Now());
      return Record(number, job.Lose(std::string(started.status().message()), Now()));
    }
    runner = *started;
  }
  const HostTable::Host& host = hosts_.at(runners_.HostOf(runner));
  if (!hosts_.contains(holding.host)) devices_.Hold(holding.host, number);
  job.Start(runner, holding, host.name, Now());
  ASSIGN_OR_RETURN(const std::string folder, log_.FolderOf(number));
  if (const auto assign = job.Assignment(PlaceOf("", folder, host.host))) runners_.Send(runner, *assign);
  runners_.Send(runner, StageCommand(host.host, job.stage(), holding, !job.record().spec.on.empty(),
                                     scheduled_.strategy().is_coordinated));
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Handle(const RunnerEvent& event) {
  const std::optional<size_t> number = runners_.JobOf(event.runner);
  if (!number) return absl::OkStatus();
  JobManager& job = jobs_.at(*number);
  if (const auto* lost = std::get_if<RunnerLost>(&event.what)) {
    runners_.Forget(event.runner);
    return Lose(*number, *lost);
  }
  const auto* ended = std::get_if<RunnerStageEnded>(&std::get<RunnerReport>(event.what));
  if (ended == nullptr || !job.runs()) return absl::OkStatus();
  if (job.is_over()) return Record(*number, StopStage(*number, EndOf(job)));
  StageRecord stage = job.End(*ended, predictions_.all(), Now());
  // A job that has come to nothing leaves its runner without one.
  if (job.runner() == 0) runners_.End(event.runner);
  return Record(*number, std::move(stage));
}

absl::Status ScheduleDriver::Lose(size_t number, const RunnerLost& lost) {
  JobManager& job = jobs_.at(number);
  const bool counts = lost.may_be_jobs_fault && !job.is_over();
  if (job.runs())
    return Record(number, counts ? job.Lose(lost.reason, Now()) : StopStage(number, lost.reason));
  if (counts) {
    job.LoseWaiting(lost.reason);
  } else {
    job.LeaveRunner();
  }
  return job.is_over() ? SetOver(number) : AskElsewhere(number);
}

StageRecord ScheduleDriver::StopStage(size_t number, const std::string& reason) {
  JobManager& job = jobs_.at(number);
  runners_.End(job.runner());
  return job.Stop(reason, Now());
}

absl::Status ScheduleDriver::Record(size_t number, StageRecord stage) {
  const JobManager& job = jobs_.at(number);
  RETURN_IF_ERROR(log_.EndStage(number, job.record(), std::move(stage)));
  if (!job.is_over()) {
    RETURN_IF_ERROR(AskAgain(number, /*has_run=*/true));
  } else {
    RETURN_IF_ERROR(scheduled_.Done(number, std::nullopt, Now()));
    Dismiss(number);
  }
  if (const std::optional<int> device = devices_.Release(number)) DropDevice(*device);
  return absl::OkStatus();
}

absl::Status ScheduleDriver::SetOver(size_t number) {
  scheduled_.Withdraw(number);
  const JobRecord record = jobs_.at(number).record();
  Dismiss(number);
  return log_.SetJob(number, record);
}

void ScheduleDriver::Dismiss(size_t number) {
  const JobManager& job = jobs_.at(number);
  admission_.Forget(number);
  if (const JobRecord& record = job.record(); record.whole != 0)
    split_.End(record.whole, number, record.state != JobState::kDone);
  runners_.End(job.runner());
  runners_.CancelMove(number);
  if (options_.on_over) options_.on_over(job.record());
  if (options_.is_endless) jobs_.erase(number);
}

}  // namespace attune

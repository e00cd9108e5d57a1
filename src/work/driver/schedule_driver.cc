#include "work/driver/schedule_driver.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "work/job/stage_prior.h"

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
    : schedule_(std::move(schedule)),
      options_(std::move(options)),
      strategy_(options_.strategy),
      store_(store),
      runners_(runners),
      clock_(clock),
      scheduler_(*strategy_),
      before_(schedule_.elapsed),
      begin_(clock.Now()) {
  schedule_.strategy = strategy_->name;
  for (size_t number = 0; number < schedule_.jobs.size(); ++number) Add(number, schedule_.jobs[number]);
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

void ScheduleDriver::Wait(size_t number) {
  const JobManager& job = jobs_.at(number);
  StageRequest request;
  request.job = static_cast<int64_t>(number);
  request.remaining = StagePrior(job.record().spec.kind, "").median;
  admission_.Wait(number, GroupOf(job), strategy_->key(request, job.facts()));
}

double ScheduleDriver::Now() const { return before_ + clock_.Now() - begin_; }

std::string ScheduleDriver::WaitsFor(size_t number) const { return admission_.RefusalOf(number); }

absl::Status ScheduleDriver::Learn() {
  constexpr int64_t kMost = 10'000;
  if (std::exchange(has_learned_, true)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<PastStage> stages, store_.PastStages(kMost));
  for (const PastStage& stage : stages) {
    predictions_.Add(StageLabels(stage.kind, stage.subject, stage.host, stage.name),
                     OwnOrPrior(stage.kind, stage.name, stage.own), stage.seconds);
  }
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Admit() {
  const auto most = [&](const JobGroup& group) { return MostOf(group); };
  while (const std::optional<size_t> number = admission_.Take(most)) {
    JobManager& job = jobs_.at(*number);
    const absl::StatusOr<int64_t> scheduled = scheduler_.Submit(job.facts(), Ask(job), Now());
    if (scheduled.ok()) {
      by_number_[*scheduled] = *number;
      numbers_[*number] = *scheduled;
    } else {
      RETURN_IF_ERROR(Refuse(*number, scheduled.status()));
    }
  }
  return absl::OkStatus();
}

absl::Status ScheduleDriver::AskAgain(size_t number, bool has_run) {
  NextStage next = Ask(jobs_.at(number));
  const int64_t scheduled = numbers_.at(number);
  const absl::Status status = has_run ? scheduler_.Done(scheduled, std::move(next), Now())
                                      : scheduler_.Change(scheduled, std::move(next), Now());
  if (status.ok()) return status;
  Leave(number);
  return Refuse(number, status);
}

absl::Status ScheduleDriver::AskElsewhere(size_t number) {
  if (numbers_.contains(number)) return AskAgain(number, /*has_run=*/false);
  Wait(number);
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Refuse(size_t number, const absl::Status& why) {
  JobManager& job = jobs_.at(number);
  // A host or a device may come; but the host that the job is on stays as it is.
  if (options_.is_endless && (job.runner() == 0 || job.measures_elsewhere())) {
    admission_.Refuse(number, std::string(why.message()), /*is_in_memory=*/job.runner() != 0);
    return absl::OkStatus();
  }
  job.Fail(options_.is_endless ? absl::StrCat("its machine does not have what its stage \"", job.stage().name,
                                              "\" needs: ", NeedsText(job.stage()))
                               : std::string(why.message()));
  return SetOver(number);
}

absl::Status ScheduleDriver::Start(const StageStart& start) {
  const size_t number = by_number_.at(start.job);
  JobManager& job = jobs_.at(number);
  int64_t runner = job.runner();
  if (runner == 0) {
    const absl::StatusOr<int64_t> started = runners_.Start(start.holding.host);
    if (!started.ok()) {
      job.Start(0, start.holding, hosts_.at(start.holding.host).name, Now());
      return Record(number, job.Lose(std::string(started.status().message()), Now()));
    }
    runner = *started;
    by_runner_[runner] = number;
    host_of_runner_[runner] = start.holding.host;
    moving_.erase(number);
  }
  const Host& host = hosts_.at(host_of_runner_.at(runner));
  if (!hosts_.contains(start.holding.host)) devices_in_use_[start.holding.host] = number;
  job.Start(runner, start.holding, host.name, Now());
  const std::string folder = absl::StrCat(store_.folder(), "/", schedule_.id, "/", number);
  if (!options_.is_endless) {
    // The folders of an endless schedule's jobs are elsewhere.
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return InvalidInput(folder, ": cannot be made: ", error.message());
  }
  if (const auto assign = job.Assignment(PlaceOf("", folder, host.host))) runners_.Send(runner, *assign);
  runners_.Send(runner, Command(job, start.holding));
  return absl::OkStatus();
}

void ScheduleDriver::Leave(size_t number) {
  by_number_.erase(numbers_.at(number));
  numbers_.erase(number);
}

void ScheduleDriver::ForgetRunner(int64_t runner) {
  by_runner_.erase(runner);
  host_of_runner_.erase(runner);
}

void ScheduleDriver::Dismiss(size_t number) {
  const JobManager& job = jobs_.at(number);
  admission_.Forget(number);
  if (const JobRecord& record = job.record(); record.whole != 0)
    split_.End(record.whole, number, record.state != JobState::kDone);
  if (job.runner() != 0) {
    ForgetRunner(job.runner());
    runners_.End(job.runner());
  }
  moving_.erase(number);
  if (options_.on_over) options_.on_over(job.record());
  if (options_.is_endless) jobs_.erase(number);
}

absl::Status ScheduleDriver::SetOver(size_t number) {
  const JobRecord record = jobs_.at(number).record();
  if (!options_.is_endless) schedule_.jobs[number] = record;
  Dismiss(number);
  return store_.SetJob(schedule_.id, number, record);
}

absl::Status ScheduleDriver::Record(size_t number, StageRecord stage) {
  const JobManager& job = jobs_.at(number);
  stage.end_ms = clock_.WallMillis();
  RETURN_IF_ERROR(store_.EndStage(schedule_.id, number, job.record(), stage));
  if (options_.on_stored) options_.on_stored(job.record(), stage);
  if (!options_.is_endless) {
    schedule_.jobs[number] = job.record();
    schedule_.stages.push_back(std::move(stage));
  }
  cancelled_.erase(number);
  if (!job.is_over()) {
    RETURN_IF_ERROR(AskAgain(number, /*has_run=*/true));
  } else {
    RETURN_IF_ERROR(scheduler_.Done(numbers_.at(number), std::nullopt, Now()));
    Leave(number);
    Dismiss(number);
  }
  ReleaseDevice(number);
  return absl::OkStatus();
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
  if (!job.is_over()) return AskElsewhere(number);
  Withdraw(number);
  return SetOver(number);
}

void ScheduleDriver::Withdraw(size_t number) {
  if (numbers_.contains(number)) {
    scheduler_.Drop(numbers_.at(number));
    Leave(number);
  }
  admission_.Withdraw(number);
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
  if (!job.runs()) {
    Withdraw(number);
    return SetOver(number);
  }
  runners_.Send(job.runner(), CancelStage{});
  cancelled_[number] = Now() + kGraceSeconds;
  return store_.SetJob(schedule_.id, number, job.record());
}

absl::Status ScheduleDriver::GiveUpCancelled() {
  std::vector<size_t> late;
  for (const auto& [number, end] : cancelled_)
    if (end <= Now()) late.push_back(number);
  for (const size_t number : late)
    RETURN_IF_ERROR(Record(number, StopStage(number, EndOf(jobs_.at(number)))));
  return absl::OkStatus();
}

StageRecord ScheduleDriver::StopStage(size_t number, const std::string& reason) {
  JobManager& job = jobs_.at(number);
  const int64_t runner = job.runner();
  StageRecord stage = job.Stop(reason, Now());
  if (by_runner_.contains(runner)) {
    ForgetRunner(runner);
    runners_.End(runner);
  }
  return stage;
}

absl::Status ScheduleDriver::Handle(const RunnerEvent& event) {
  const auto found = by_runner_.find(event.runner);
  if (found == by_runner_.end()) return absl::OkStatus();
  const size_t number = found->second;
  JobManager& job = jobs_.at(number);
  if (const auto* lost = std::get_if<RunnerLost>(&event.what)) {
    ForgetRunner(event.runner);
    return Lose(number, *lost);
  }
  const auto* ended = std::get_if<RunnerStageEnded>(&std::get<RunnerReport>(event.what));
  if (ended == nullptr || !job.runs()) return absl::OkStatus();
  if (job.is_over()) return Record(number, StopStage(number, EndOf(job)));
  StageRecord stage = job.End(*ended, predictions_, Now());
  // A job that has come to nothing leaves its runner without one.
  if (job.runner() == 0) {
    ForgetRunner(event.runner);
    runners_.End(event.runner);
  }
  return Record(number, std::move(stage));
}

absl::Status ScheduleDriver::StopAll() {
  const auto runs = [](const auto& entry) { return entry.second.runs(); };
  for (const auto& [number, job] : jobs_)
    if (job.runs()) runners_.Send(job.runner(), CancelStage{});
  const Stopwatch watch(clock_);
  while (std::ranges::any_of(jobs_, runs) && watch.Seconds() < kGraceSeconds) {
    for (const RunnerEvent& event : runners_.Await(kTickSeconds)) {
      const auto found = by_runner_.find(event.runner);
      if (found == by_runner_.end() || !jobs_.at(found->second).runs()) continue;
      const auto* report = std::get_if<RunnerReport>(&event.what);
      if (report != nullptr && std::holds_alternative<RunnerRegistered>(*report)) continue;
      // The stage was cut short, so it is run again, whatever it has reached.
      const size_t number = found->second;
      RETURN_IF_ERROR(Record(number, StopStage(number, kStopped)));
    }
  }
  std::vector<size_t> left;
  for (const auto& [number, job] : jobs_)
    if (job.runs()) left.push_back(number);
  for (const size_t number : left) RETURN_IF_ERROR(Record(number, StopStage(number, kStopped)));
  for (const auto& [runner, number] : by_runner_) runners_.End(runner);
  return absl::CancelledError("stopped");
}

absl::Status ScheduleDriver::StartStages() {
  RETURN_IF_ERROR(Learn());
  RETURN_IF_ERROR(FollowParts());
  RETURN_IF_ERROR(MoveFromBusyHost());
  RETURN_IF_ERROR(Admit());
  for (const StageStart& start : scheduler_.Decide(Now())) RETURN_IF_ERROR(Start(start));
  return absl::OkStatus();
}

absl::Status ScheduleDriver::HandleEvents(double seconds) {
  for (const RunnerEvent& event : runners_.Await(seconds)) RETURN_IF_ERROR(Handle(event));
  return GiveUpCancelled();
}

absl::Status ScheduleDriver::Step(double seconds) {
  RETURN_IF_ERROR(StartStages());
  return HandleEvents(seconds);
}

absl::Status ScheduleDriver::Run(const Cancellation& cancellation, const std::function<void()>& changed) {
  while (!admission_.is_empty() || !numbers_.empty() || !split_.is_empty()) {
    if (cancellation.is_cancelled()) return StopAll();
    RETURN_IF_ERROR(StartStages());
    if (changed) changed();
    RETURN_IF_ERROR(HandleEvents(kTickSeconds));
  }
  if (changed) changed();
  return absl::OkStatus();
}

absl::Status ScheduleDriver::Finish() { return store_.Finish(schedule_.id); }

}  // namespace attune

#include "work/driver/job_manager.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "work/driver/runner_worker.h"

namespace attune {
namespace {

// A job whose runner has died this often in the same stage is taken to be the cause.
constexpr int kMostLosses = 5;

// A model in memory, and room to read it.
constexpr int64_t kOpenBytes = int64_t{1} << 30;

JobStage OpenStage() {
  return {.name = kOpenStage, .needs = {{.key = kProcessorsKey}}, .memory_bytes = kOpenBytes, .seconds = {}};
}

}  // namespace

void StageAttempt::Ask(NextStage next, const SecondsPrediction& own, double now) {
  next_ = std::move(next);
  own_ = own;
  asked_ = now;
}

void StageAttempt::Start(const Holding& holding, const std::string& host, double now) {
  holding_ = holding;
  place_ = host;
  start_ = now;
}

StageRecord StageAttempt::End(StageOutcome outcome, double now) {
  StageRecord stage;
  stage.stage = next_.stage;
  stage.asked = asked_;
  stage.start = start_;
  stage.end = now;
  stage.processors = holding_->granted;
  stage.held = holding_->processors;
  stage.outcome = outcome;
  stage.own = own_;
  stage.place = place_;
  holding_.reset();
  return stage;
}

JobManager::JobManager(JobRecord record, std::string subject)
    : record_(std::move(record)), predictions_(record_.spec.kind, std::move(subject)) {}

JobFacts JobManager::facts() const {
  const JobSpec& spec = record_.spec;
  JobFacts facts = {
      .id = spec.id, .owner = spec.owner, .priority = spec.priority, .deadline = spec.deadline_seconds};
  if (spec.part > 0) facts.whole = spec.id.substr(0, spec.id.rfind(kPartEnding));
  return facts;
}

NextStage JobManager::Ask(const StagePredictions& predictions, const std::string& host, double now) {
  predictions_.SetHost(host);
  NextStage next = {.stage = following_.value_or(OpenStage())};
  const SecondsPrediction own = next.stage.seconds;
  next.stage.seconds = predictions_.Predict(predictions, next.stage.name, own);
  next.remaining = job_remaining_.value_or(predictions_.RemainingOfAll());
  attempt_.Ask(next, own, now);
  return next;
}

bool JobManager::measures_elsewhere() const {
  return !record_.spec.on.empty() && std::ranges::any_of(stage().needs, &ResourceNeed::exclusive);
}

void JobManager::Start(int64_t runner, const Holding& holding, const std::string& host, double now) {
  runner_ = runner;
  attempt_.Start(holding, host, now);
}

std::optional<AssignJob> JobManager::Assignment(JobPlace place) const {
  if (following_.has_value()) return std::nullopt;
  place.id = record_.spec.id;
  place.position = record_.position;
  place.on = record_.spec.on;
  if (!place.on.empty()) place.devices = {place.on};
  return AssignJob{.spec = record_.spec, .place = std::move(place)};
}

StageRecord JobManager::EndAttempt(StageOutcome outcome, double now) {
  StageRecord stage = attempt_.End(outcome, now);
  stage.job = record_.spec.id;
  return stage;
}

StageRecord JobManager::End(const RunnerStageEnded& ended, StagePredictions& predictions, double now) {
  if (absl::IsUnavailable(ended.status)) return Lose(std::string(ended.status.message()), now);
  if (!ended.status.ok()) {
    Fail(std::string(ended.status.message()));
    StageRecord stage = EndAttempt(StageOutcome::kFailed, now);
    stage.reason = record_.error;
    return stage;
  }
  losses_.erase(attempt_.name());
  // A runner may say anything, and all owners' predictions learn from it.
  const double seconds = std::clamp(ended.seconds, 0.0, std::max(0.0, now - start()));
  predictions_.Learn(predictions, attempt_.name(), attempt_.own(), seconds);
  if (!following_.has_value()) opening_seconds_ = now - start();
  record_.position += following_.has_value() ? 1 : 0;
  record_.progress = WithoutControls(ended.progress);
  record_.figures = ended.figures;
  if (ended.files.has_value()) record_.files = *ended.files;
  following_ = ended.next;
  job_remaining_ = ended.remaining;
  if (!ended.next.has_value()) {
    record_.state = JobState::kDone;
    record_.result = ended.result;
  }
  return EndAttempt(StageOutcome::kDone, now);
}

StageRecord JobManager::Lose(const std::string& reason, double now) {
  CountLoss(reason);
  StageRecord stage = EndAttempt(StageOutcome::kLost, now);
  stage.reason = WithoutControls(reason);
  return stage;
}

void JobManager::LoseWaiting(const std::string& reason) { CountLoss(reason); }

void JobManager::CountLoss(const std::string& reason) {
  LeaveRunner();
  const int losses = ++losses_[attempt_.name()];
  if (losses < kMostLosses) return;
  Fail(absl::StrCat("its runner ended ", losses, " times in stage \"", attempt_.name(), "\": ", reason));
}

StageRecord JobManager::Stop(const std::string& reason, double now) {
  LeaveRunner();
  StageRecord stage = EndAttempt(StageOutcome::kLost, now);
  stage.reason = WithoutControls(reason);
  return stage;
}

void JobManager::TakeFiles(std::vector<JobFile> files) { record_.files = std::move(files); }

void JobManager::LeaveRunner() {
  runner_ = 0;
  following_.reset();
}

void JobManager::Fail(const std::string& why) {
  record_.state = JobState::kFailed;
  record_.error = WithoutControls(why);
}

void JobManager::Cancel() { record_.state = JobState::kCancelled; }

}  // namespace attune

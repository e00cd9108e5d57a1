#include "work/driver/job_manager.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "work/driver/runner_worker.h"
#include "work/job/stage_prior.h"

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

std::vector<std::string> StageLabels(const std::string& kind, const std::string& subject,
                                     const std::string& host, const std::string& stage) {
  const std::string general = absl::StrCat(kind, "/", stage);
  return {absl::StrCat(general, "/", subject, "/", host), absl::StrCat(general, "/", subject), general};
}

JobManager::JobManager(JobRecord record, std::string subject)
    : record_(std::move(record)), subject_(std::move(subject)) {}

JobFacts JobManager::facts() const {
  const JobSpec& spec = record_.spec;
  JobFacts facts = {
      .id = spec.id, .owner = spec.owner, .priority = spec.priority, .deadline = spec.deadline_seconds};
  if (spec.part > 0) facts.whole = spec.id.substr(0, spec.id.rfind(kPartEnding));
  return facts;
}

std::vector<std::string> JobManager::Labels(const std::string& stage) const {
  return StageLabels(record_.spec.kind, subject_, host_, stage);
}

NextStage JobManager::Ask(const StagePredictions& predictions, const std::string& host, double now) {
  host_ = host;
  next_.stage = following_.value_or(OpenStage());
  own_ = next_.stage.seconds;
  const std::string& name = next_.stage.name;
  next_.stage.seconds = predictions.Predict(Labels(name), OwnOrPrior(record_.spec.kind, name, own_));
  next_.remaining = job_remaining_.value_or(StagePrior(record_.spec.kind, "").median);
  asked_ = now;
  return next_;
}

bool JobManager::measures_elsewhere() const {
  return !record_.spec.on.empty() && std::ranges::any_of(next_.stage.needs, &ResourceNeed::exclusive);
}

void JobManager::Start(int64_t runner, const Holding& holding, const std::string& host, double now) {
  runner_ = runner;
  holding_ = holding;
  place_ = host;
  start_ = now;
}

std::optional<AssignJob> JobManager::Assignment(JobPlace place) const {
  if (following_.has_value()) return std::nullopt;
  place.id = record_.spec.id;
  place.position = record_.position;
  place.on = record_.spec.on;
  if (!place.on.empty()) place.devices = {place.on};
  return AssignJob{.spec = record_.spec, .place = std::move(place)};
}

StageRecord JobManager::Finish(StageOutcome outcome, double now) {
  StageRecord stage;
  stage.job = record_.spec.id;
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

StageRecord JobManager::End(const RunnerStageEnded& ended, StagePredictions& predictions, double now) {
  if (absl::IsUnavailable(ended.status)) return Lose(std::string(ended.status.message()), now);
  if (!ended.status.ok()) {
    Fail(std::string(ended.status.message()));
    StageRecord stage = Finish(StageOutcome::kFailed, now);
    stage.reason = record_.error;
    return stage;
  }
  losses_.erase(next_.stage.name);
  const std::string& name = next_.stage.name;
  // A runner may say anything, and all owners' predictions learn from it.
  const double seconds = std::clamp(ended.seconds, 0.0, std::max(0.0, now - start_));
  predictions.Add(Labels(name), OwnOrPrior(record_.spec.kind, name, own_), seconds);
  if (!following_.has_value()) opening_seconds_ = now - start_;
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
  return Finish(StageOutcome::kDone, now);
}

StageRecord JobManager::Lose(const std::string& reason, double now) {
  CountLoss(reason);
  StageRecord stage = Finish(StageOutcome::kLost, now);
  stage.reason = WithoutControls(reason);
  return stage;
}

void JobManager::LoseWaiting(const std::string& reason) { CountLoss(reason); }

void JobManager::CountLoss(const std::string& reason) {
  LeaveRunner();
  const int losses = ++losses_[next_.stage.name];
  if (losses < kMostLosses) return;
  Fail(absl::StrCat("its runner ended ", losses, " times in stage \"", next_.stage.name, "\": ", reason));
}

StageRecord JobManager::Stop(const std::string& reason, double now) {
  LeaveRunner();
  StageRecord stage = Finish(StageOutcome::kLost, now);
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

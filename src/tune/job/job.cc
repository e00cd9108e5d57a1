#include "tune/job/job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/processors.h"
#include "base/status.h"

namespace attune {
namespace {

// A task whose next batch would save the network less than this share of its time is left alone.
constexpr double kLeastGain = 2e-4;

// What the stages take before any has run, in seconds for each task or candidate.
constexpr std::array<double, 6> kFirstGuess = {0.05, 0.01, 0.05, 0.3, 0.01, 2.0};

constexpr int kBuiltAtOnce = 16;  // candidates, by each builder

size_t Place(StageKind kind) { return static_cast<size_t>(kind); }

}  // namespace

TuningJob::TuningJob(const TuningOptions& options, TuningRun run, const TuningTools& tools, Target target)
    : options_(options),
      run_(std::move(run)),
      tools_(tools),
      target_(std::move(target)),
      start_(tools.now()) {}

absl::StatusOr<std::unique_ptr<TuningJob>> TuningJob::Create(std::vector<TuningTask> tasks,
                                                             const std::vector<double>& bounds,
                                                             const Target& target,
                                                             const TuningOptions& options, TuningRun run,
                                                             const TuningTools& tools) {
  std::unique_ptr<TuningJob> job(new TuningJob(options, std::move(run), tools, target));
  if (job->options_.builders <= 0) job->options_.builders = Processors();
  for (size_t i = 0; i < tasks.size(); ++i) {
    ASSIGN_OR_RETURN(job->tasks_.emplace_back(),
                     TaskTuning::Create(std::move(tasks[i]), target, options, options.seed + i, bounds[i]));
  }
  return job;
}

int64_t TuningJob::ItemsOf(StageKind kind) const {
  switch (kind) {
    case StageKind::kBuild:
    case StageKind::kMeasure:
      return std::ssize(pending_);
    case StageKind::kFinalize:
      return 1;
    default:
      return std::ssize(tasks_);
  }
}

double TuningJob::SecondsOfItem(StageKind kind) const {
  const size_t place = Place(kind);
  return stage_items_[place] == 0 ? kFirstGuess[place]
                                  : stage_seconds_[place] / static_cast<double>(stage_items_[place]);
}

std::optional<StageKind> TuningJob::NextKind() const {
  const bool ends = is_stopped() && next_.has_value();
  return ends && *next_ != StageKind::kPrepare ? StageKind::kFinalize : next_;
}

std::optional<JobStage> TuningJob::Next() const {
  const std::optional<StageKind> next = NextKind();
  if (!next.has_value()) return std::nullopt;
  JobStage stage{.kind = *next, .needs = {}};
  constexpr int64_t kStageBytes = int64_t{1} << 30, kBuilderBytes = int64_t{1} << 29;
  stage.needs.seconds = static_cast<double>(ItemsOf(stage.kind)) * SecondsOfItem(stage.kind);
  stage.needs.device = stage.kind == StageKind::kMeasure || stage.kind == StageKind::kFinalize;
  stage.needs.processors = stage.needs.device ? options_.threads : options_.builders;
  stage.needs.memory_bytes =
      kStageBytes + (stage.kind == StageKind::kBuild ? options_.builders * kBuilderBytes : 0);
  return stage;
}

absl::Status TuningJob::RunNext() {
  next_ = NextKind();
  if (!next_.has_value()) return InternalError("the job is done");
  const StageKind kind = *next_;
  using Runner = absl::Status (TuningJob::*)();
  constexpr std::array<Runner, 6> kRunners = {&TuningJob::Prepare, &TuningJob::Select, &TuningJob::Build,
                                              &TuningJob::Measure, &TuningJob::Update, &TuningJob::Finalize};
  const int64_t items = ItemsOf(kind);
  const double begin = tools_.now();
  RETURN_IF_ERROR(Log("stage", {{"stage", Name(kind)}, {"state", "begins"}}));
  RETURN_IF_ERROR((this->*kRunners[Place(kind)])());
  const double seconds = tools_.now() - begin;
  stage_seconds_[Place(kind)] += seconds;
  stage_items_[Place(kind)] += items;
  if (!next_.has_value()) {
    run_.end_ms = tools_.wall_clock();
    run_.stage_seconds = nlohmann::json(StageSeconds()).dump();
    RETURN_IF_ERROR(tools_.records->FinishRun(run_));
  }
  return Log("stage", {{"stage", Name(kind)}, {"state", "ends"}, {"stage_seconds", seconds}});
}

absl::Status TuningJob::Prepare() {
  for (const auto& task : tasks_) {
    ASSIGN_OR_RETURN(std::vector<Record> records,
                     tools_.records->Records(
                         {.task = task->task().digest, .device = run_.device, .threads = run_.threads}));
    for (const Record& record : records) {
      if (record.run != run_.id) continue;
      ++trials_;
      next_number_ = std::max(next_number_, record.trial + 1);
      earlier_seconds_ += record.build_seconds / options_.builders + record.measure_seconds;
    }
    // What failed is not tried again, whoever tried it, and with whatever in the caches.
    std::erase_if(records, [&](const Record& record) {
      const bool is_asked_for =
          record.cache == options_.cache && (record.run == run_.id || options_.transfer_from_runs);
      return record.outcome == TrialOutcome::kOk && !is_asked_for;
    });
    task->Transfer(records, run_.id);
  }
  if (options_.transfer_from_tasks) RETURN_IF_ERROR(LearnFromOtherTasks());
  next_ = StageKind::kSelect;
  return TrainModel();
}

double TuningJob::FinalSeconds() const {
  // A stage for each task that has found something, and for the network's kernels, its layouts and itself.
  const int stages = tools_.block_classes + (tools_.profile_network == nullptr ? 0 : 1) +
                     (tools_.measure_network == nullptr ? 0 : 1);
  return static_cast<double>(Best().size()) * SecondsOfItem(StageKind::kFinalize) + stages * kNetworkSeconds;
}

bool TuningJob::IsOver() const {
  if (options_.trials > 0 && trials_ >= options_.trials) return true;
  constexpr double kMostForTheEnd = 0.5;  // of the time
  return options_.seconds > 0 &&
         Elapsed() + std::min(FinalSeconds(), kMostForTheEnd * options_.seconds) >= options_.seconds;
}

double TuningJob::SecondsLeft() const {
  if (!next_.has_value()) return 0;
  double left = options_.seconds > 0 ? options_.seconds - Elapsed() : 0;
  if (options_.trials > 0 && trials_ > 0) {
    const double by_trials =
        Elapsed() / static_cast<double>(trials_) * static_cast<double>(options_.trials - trials_) +
        FinalSeconds();
    left = left > 0 ? std::min(left, by_trials) : by_trials;
  }
  return std::max(left, 0.0);
}

void TuningJob::Choose(size_t task, std::vector<Candidate> candidates) {
  const std::vector<float> scores = tasks_[task]->Scores(candidates, tools_.model);
  for (size_t i = 0; i < candidates.size(); ++i) {
    pending_.push_back({.task = task,
                        .candidate = std::move(candidates[i]),
                        .score = scores.empty() ? std::nullopt : std::optional(scores[i]),
                        .built = {}});
  }
}

// Among these is the default of every task: what the network takes untuned is the sum of them, and tells what
// the tasks are worth. A guess that was fast for a similar task costs one trial.
void TuningJob::ChooseFirst() {
  has_begun_ = true;
  for (size_t i = 0; i < tasks_.size(); ++i) Choose(i, tasks_[i]->First());
  for (size_t i = 0; i < tasks_.size() && options_.trials_per_task != 1; ++i) {
    if (options_.trials > 0 && trials_ + std::ssize(pending_) >= options_.trials) return;
    const std::vector<Candidate> others =
        options_.transfer_from_tasks ? FoundElsewhere(i) : std::vector<Candidate>();
    if (std::optional<Candidate> guess = tasks_[i]->Guess(others, tools_.model)) {
      Choose(i, {*std::move(guess)});
    }
  }
}

absl::Status TuningJob::Select() {
  pending_.clear();
  next_ = StageKind::kBuild;
  if (!has_begun_) {
    ChooseFirst();
    if (!pending_.empty()) return absl::OkStatus();
  }
  while (!IsOver()) {
    std::vector<TaskProgress> progress;
    for (const auto& task : tasks_) {
      const bool enough = options_.trials_per_task > 0 && task->trials() >= options_.trials_per_task;
      if (enough || !task->is_patient(options_.patience)) task->GiveUp();
      progress.push_back(task->progress());
    }
    const double network = InferenceSeconds(progress);
    const auto next = ChooseTask(progress, std::isfinite(network) ? kLeastGain * network : 0);
    if (!next.has_value()) break;
    int64_t batch = options_.batch;
    if (options_.trials > 0) batch = std::min(batch, options_.trials - trials_);
    if (options_.trials_per_task > 0) {
      batch = std::min(batch, options_.trials_per_task - tasks_[next->task]->trials());
    }
    if (options_.transfer_from_tasks) tasks_[next->task]->Hint(FoundElsewhere(next->task));
    Choose(next->task, tasks_[next->task]->Propose(static_cast<int>(batch), tools_.model));
    if (!pending_.empty()) {
      return Log("select", {{"task", tasks_[next->task]->task().digest},
                            {"candidates", pending_.size()},
                            {"expected_gain", std::isfinite(next->gain) ? next->gain : -1}});
    }
  }
  next_ = StageKind::kFinalize;
  return absl::OkStatus();
}

absl::Status TuningJob::Build() {
  std::vector<BuildRequest> requests;
  for (const Pending& pending : pending_) {
    requests.push_back({&tasks_[pending.task]->task(), pending.candidate});
  }
  // Not all at once: whoever stops the job does not want to wait for them.
  const auto portion = static_cast<size_t>(kBuiltAtOnce) * static_cast<size_t>(options_.builders);
  for (size_t begin = 0; begin < requests.size() && !is_stopped(); begin += portion) {
    const size_t count = std::min(portion, requests.size() - begin);
    std::vector<BuildResult> results = tools_.builder->Build(std::span(requests).subspan(begin, count));
    for (size_t i = 0; i < count; ++i) pending_[begin + i].built = std::move(results[i]);
  }
  next_ = StageKind::kMeasure;
  return absl::OkStatus();
}

bool TuningJob::IsLate() const {
  const double end = tools_.measure_network == nullptr ? 0 : kNetworkSeconds;
  return options_.seconds > 0 && Elapsed() + end >= options_.seconds;
}

absl::Status TuningJob::Update() {
  std::vector<bool> touched(tasks_.size(), false);
  for (const Pending& pending : pending_) touched[pending.task] = true;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    if (touched[i]) tasks_[i]->EndBatch();
  }
  pending_.clear();
  next_ = StageKind::kSelect;
  return TrainModel();
}

absl::Status TuningJob::TrainModel() {
  if (tools_.model == nullptr) return absl::OkStatus();
  std::vector<TaskSamples> samples = other_samples_;
  for (const auto& task : tasks_) {
    TaskSamples own = task->Samples();
    if (own.features.size() > 1) samples.push_back(std::move(own));
  }
  // With little measured there is nothing to learn yet.
  const absl::Status status = tools_.model->Update(samples);
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ? absl::OkStatus() : status;
}

double TuningJob::NetworkSeconds() const {
  std::vector<TaskProgress> progress;
  for (const auto& task : tasks_) {
    TaskProgress now = task->progress();
    if (task->best().has_value()) now.best = {task->best_seconds()};
    progress.push_back(std::move(now));
  }
  return InferenceSeconds(progress);
}

std::map<std::string, double> TuningJob::StageSeconds() const {
  std::map<std::string, double> seconds;
  for (size_t i = 0; i < stage_seconds_.size(); ++i) {
    seconds[std::string(Name(static_cast<StageKind>(i)))] = stage_seconds_[i];
  }
  return seconds;
}

std::map<std::string, Candidate> TuningJob::Best() const {
  std::map<std::string, Candidate> best;
  for (const auto& task : tasks_) {
    const std::optional<Candidate>& candidate = task->best();
    if (candidate.has_value() && *candidate != task->space().Default()) best[task->task().text] = *candidate;
  }
  return best;
}

TuningSummary TuningJob::Summary() const {
  TuningSummary summary;
  summary.model = run_.model;
  summary.device = run_.device;
  summary.run = run_.id;
  summary.search = options_.search;
  summary.threads = options_.threads;
  summary.untuned_seconds = run_.untuned_seconds;
  summary.tuned_seconds = run_.tuned_seconds;
  summary.elapsed_seconds = Elapsed();
  summary.seconds_left = SecondsLeft();
  summary.trials = trials_;
  std::vector<TaskProgress> progress;
  for (const auto& task : tasks_) {
    summary.tasks.push_back(task->Summary());
    progress.push_back(task->progress());
  }
  const std::vector<double> gains = ExpectedGains(progress);
  for (size_t i = 0; i < tasks_.size(); ++i) summary.tasks[i].expected_gain = gains[i];
  summary.curve = curve_;
  summary.ranks = ranks_;
  summary.stage_seconds = StageSeconds();
  return summary;
}

}  // namespace attune

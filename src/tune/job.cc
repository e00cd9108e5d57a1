#include "tune/job.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/processors.h"
#include "base/status.h"
#include "compile/compile.h"
#include "tune/rank_correlation.h"
#include "tune/record_chooser.h"

namespace attune {
namespace {

// A task whose next batch would save the network less than this share of its time is left alone.
constexpr double kLeastGain = 2e-4;

// What the stages take before any has run, in seconds for each task or candidate.
constexpr std::array<double, 6> kFirstGuess = {0.05, 0.01, 0.05, 0.3, 0.01, 1.0};

size_t Place(StageKind kind) { return static_cast<size_t>(kind); }

}  // namespace

TuningJob::TuningJob(const TuningOptions& options, TuningRun run, const TuningTools& tools)
    : options_(options), run_(std::move(run)), tools_(tools), start_(tools.now()) {}

absl::StatusOr<std::unique_ptr<TuningJob>> TuningJob::Create(std::vector<TuningTask> tasks,
                                                             const std::vector<double>& bounds,
                                                             const Target& target,
                                                             const TuningOptions& options, TuningRun run,
                                                             const TuningTools& tools) {
  std::unique_ptr<TuningJob> job(new TuningJob(options, std::move(run), tools));
  if (job->options_.builders <= 0) job->options_.builders = Processors();
  for (size_t i = 0; i < tasks.size(); ++i) {
    ASSIGN_OR_RETURN(job->tasks_.emplace_back(),
                     TaskTuning::Create(std::move(tasks[i]), target, options, options.seed + i, bounds[i]));
  }
  return job;
}

std::optional<JobStage> TuningJob::Next() const {
  if (!next_.has_value()) return std::nullopt;
  JobStage stage{.kind = *next_, .needs = {}};
  const size_t kind = Place(stage.kind);
  const bool per_candidate = stage.kind == StageKind::kBuild || stage.kind == StageKind::kMeasure;
  const auto items = static_cast<double>(per_candidate ? pending_.size() : tasks_.size());
  const double each = stage_items_[kind] == 0
                          ? kFirstGuess[kind]
                          : stage_seconds_[kind] / static_cast<double>(stage_items_[kind]);
  constexpr int64_t kStageBytes = int64_t{1} << 30, kBuilderBytes = int64_t{1} << 29;
  stage.needs.seconds = items * each;
  stage.needs.device = stage.kind == StageKind::kMeasure || stage.kind == StageKind::kFinalize;
  stage.needs.processors = stage.kind == StageKind::kBuild ? options_.builders
                           : stage.needs.device            ? options_.threads
                                                           : 1;
  stage.needs.memory_bytes =
      kStageBytes + (stage.kind == StageKind::kBuild ? options_.builders * kBuilderBytes : 0);
  return stage;
}

absl::Status TuningJob::RunNext() {
  if (!next_.has_value()) return InternalError("the job is done");
  if (stopping_.load(std::memory_order_relaxed) && *next_ != StageKind::kPrepare)
    next_ = StageKind::kFinalize;
  const StageKind kind = *next_;
  using Runner = absl::Status (TuningJob::*)();
  constexpr std::array<Runner, 6> kRunners = {&TuningJob::Prepare, &TuningJob::Select, &TuningJob::Build,
                                              &TuningJob::Measure, &TuningJob::Update, &TuningJob::Finalize};
  const bool per_candidate = kind == StageKind::kBuild || kind == StageKind::kMeasure;
  const auto items = static_cast<int64_t>(per_candidate ? pending_.size() : tasks_.size());
  const double begin = tools_.now();
  RETURN_IF_ERROR(Log("stage", {{"stage", Name(kind)}, {"state", "begins"}}));
  RETURN_IF_ERROR((this->*kRunners[Place(kind)])());
  const double seconds = tools_.now() - begin;
  stage_seconds_[Place(kind)] += seconds;
  stage_items_[Place(kind)] += items;
  return Log("stage", {{"stage", Name(kind)}, {"state", "ends"}, {"stage_seconds", seconds}});
}

absl::Status TuningJob::Prepare() {
  RETURN_IF_ERROR(tools_.records->BeginRun(run_));
  if (options_.transfer_from_runs) {
    for (const auto& task : tasks_) {
      ASSIGN_OR_RETURN(const std::vector<Record> records,
                       tools_.records->Records({.task = task->task().digest,
                                                .device = run_.device,
                                                .threads = run_.threads,
                                                .cache = options_.cache}));
      task->Transfer(records);
    }
    RETURN_IF_ERROR(TrainModel());
  }
  next_ = StageKind::kSelect;
  return absl::OkStatus();
}

bool TuningJob::IsOver() const {
  return (options_.trials > 0 && trials_ >= options_.trials) ||
         (options_.seconds > 0 && Elapsed() >= options_.seconds);
}

void TuningJob::Choose(size_t task, std::vector<Candidate> candidates) {
  std::vector<float> scores;
  if (tools_.model != nullptr && tools_.model->is_trained()) {
    scores = tasks_[task]->Scores(candidates, *tools_.model);
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    pending_.push_back({.task = task,
                        .trial = trials_++,
                        .candidate = std::move(candidates[i]),
                        .score = scores.empty() ? std::nullopt : std::optional(scores[i]),
                        .built = {}});
  }
}

// First the default of every task: what the network takes untuned is the sum of them, and tells what the
// tasks are worth.
absl::Status TuningJob::Select() {
  pending_.clear();
  next_ = StageKind::kBuild;
  if (!defaults_measured_) {
    defaults_measured_ = true;
    for (size_t i = 0; i < tasks_.size(); ++i) Choose(i, tasks_[i]->Propose(1, nullptr));
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
  std::vector<BuildResult> results = tools_.builder->Build(requests);
  for (size_t i = 0; i < pending_.size(); ++i) pending_[i].built = std::move(results[i]);
  next_ = StageKind::kMeasure;
  return absl::OkStatus();
}

absl::Status TuningJob::Keep(const Pending& pending, TrialOutcome outcome, const Timing& timing,
                             const std::string& reason, double measure_seconds) {
  const TuningTask& task = tasks_[pending.task]->task();
  Record record{.task = task.text,
                .flops = task.flops,
                .strategy = pending.candidate.strategy,
                .strategy_version = FindStrategy(pending.candidate.strategy)->version,
                .config = pending.candidate.config,
                .device = run_.device,
                .threads = run_.threads,
                .outcome = outcome,
                .timing = timing,
                .reason = reason,
                .run = run_.id,
                .trial = pending.trial,
                .search = options_.search,
                .compiler_version = std::string(kCompilerVersion),
                .code_digest = pending.built.kernel.code_digest,
                .cache = options_.cache,
                .time_ms = tools_.wall_clock(),
                .build_seconds = pending.built.seconds,
                .measure_seconds = measure_seconds};
  if (outcome != TrialOutcome::kOther) RETURN_IF_ERROR(tools_.records->Add(record).status());
  return Log("trial", {{"task", task.digest},
                       {"candidate", ToString(record.strategy, record.config)},
                       {"outcome", Name(outcome)},
                       {"trial", record.trial},
                       {"trial_seconds", timing.seconds}});
}

absl::Status TuningJob::MeasureOne(Pending& pending) {
  TaskTuning& task = *tasks_[pending.task];
  if (pending.built.outcome != TrialOutcome::kOk) {
    task.AddFailure(pending.candidate);
    return Keep(pending, pending.built.outcome, {}, pending.built.reason, 0);
  }
  const std::optional<Incumbent> incumbent = task.incumbent();
  const Measurement m = tools_.measurer->Measure(task.task(), pending.built.kernel, MeasuringOptions(),
                                                 incumbent.has_value() ? &*incumbent : nullptr);
  if (m.outcome != TrialOutcome::kOk) {
    task.AddFailure(pending.candidate);
    return Keep(pending, m.outcome, {}, m.reason, m.seconds);
  }
  Timing timing = m.timing;
  if (m.normalized_seconds > 0) {
    const double drift = m.normalized_seconds / timing.seconds;
    timing = {timing.seconds * drift, timing.low * drift, timing.high * drift, timing.repetitions};
  }
  pending.seconds = timing.seconds;
  RETURN_IF_ERROR(Keep(pending, m.outcome, timing, "", m.seconds));
  task.Add(pending.candidate, m, std::move(pending.built.kernel));
  return absl::OkStatus();
}

absl::Status TuningJob::Measure() {
  std::vector<float> predicted, measured;
  for (Pending& pending : pending_) {
    if (stopping_.load(std::memory_order_relaxed)) break;
    RETURN_IF_ERROR(MeasureOne(pending));
    if (!pending.score.has_value() || pending.seconds <= 0) continue;
    predicted.push_back(*pending.score);
    measured.push_back(static_cast<float>(-pending.seconds));
  }
  if (const auto correlation = KendallTau(predicted, measured)) ranks_.push_back({trials_, *correlation});
  curve_.push_back({Elapsed(), trials_, NetworkSeconds()});
  next_ = StageKind::kUpdate;
  return absl::OkStatus();
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
  std::vector<TaskSamples> samples;
  for (const auto& task : tasks_) {
    TaskSamples own = task->Samples();
    if (own.features.size() > 1) samples.push_back(std::move(own));
  }
  // With little measured there is nothing to learn yet.
  const absl::Status status = tools_.model->Update(samples);
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ? absl::OkStatus() : status;
}

MeasureOptions TuningJob::MeasuringOptions() const {
  MeasureOptions options;
  options.cache = options_.cache;
  options.threads = options_.threads;
  options.seconds_limit = options_.measure_seconds;
  return options;
}

// The best of a task against its default, in turns and for longer: what is not faster is not taken.
absl::Status TuningJob::FinalizeTask(size_t index) {
  TaskTuning& task = *tasks_[index];
  if (!task.best().has_value() || *task.best() == task.space().Default()) return absl::OkStatus();
  const BuildRequest requests[] = {{&task.task(), task.space().Default()}, {&task.task(), *task.best()}};
  const std::vector<BuildResult> built = tools_.builder->Build(requests);
  bool faster = false;
  if (built[0].outcome == TrialOutcome::kOk && built[1].outcome == TrialOutcome::kOk) {
    MeasureOptions options = MeasuringOptions();
    options.precision = 0.003;
    options.abandon_ratio = 0;
    const Measurement alone = tools_.measurer->Measure(task.task(), built[0].kernel, options, nullptr);
    if (alone.outcome == TrialOutcome::kOk) {
      const Incumbent incumbent{&built[0].kernel, alone.timing.seconds};
      const Measurement m = tools_.measurer->Measure(task.task(), built[1].kernel, options, &incumbent);
      faster = m.outcome == TrialOutcome::kOk && m.ratio > 0 && m.ratio_high < 1;
      RETURN_IF_ERROR(Log("final", {{"task", task.task().digest}, {"ratio", m.ratio}, {"kept", faster}}));
    }
  }
  if (!faster) task.KeepDefault();
  return absl::OkStatus();
}

absl::Status TuningJob::Finalize() {
  for (size_t i = 0; i < tasks_.size(); ++i) RETURN_IF_ERROR(FinalizeTask(i));
  curve_.push_back({Elapsed(), trials_, NetworkSeconds()});
  run_.end_ms = tools_.wall_clock();
  run_.state = stopping_.load(std::memory_order_relaxed) ? RunState::kInterrupted : RunState::kFinished;
  run_.stage_seconds = nlohmann::json(StageSeconds()).dump();
  next_ = std::nullopt;
  return absl::OkStatus();
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
  summary.elapsed_seconds = Elapsed();
  for (const auto& task : tasks_) summary.tasks.push_back(task->Summary());
  summary.curve = curve_;
  summary.ranks = ranks_;
  summary.stage_seconds = StageSeconds();
  return summary;
}

}  // namespace attune

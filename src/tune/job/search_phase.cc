#include "tune/job/search_phase.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/cost_model/rank_correlation.h"
#include "tune/job/budget.h"
#include "tune/job/final_phase.h"
#include "tune/job/lower_bound.h"
#include "tune/job/part_plan.h"
#include "tune/records/record_chooser.h"
#include "tune/task/reference_data.h"

namespace attune {
namespace {

// A task is left alone if its next batch would save less than this share of the network's time.
constexpr double kLeastGain = 2e-4;
// How often a candidate is measured again if measuring itself fails.
constexpr int kMostRetries = 3;
// After this many candidates in a row that could not be measured, the job ends, since others would fail
// too.
constexpr int kMostGivenUp = 8;

// The size of a network's weights in bytes.
int64_t ConstantBytes(const std::vector<TuningTask>& tasks) {
  int64_t bytes = 0;
  for (const TuningTask& task : tasks) {
    for (const int input : task.constant_inputs) {
      bytes += task.uses * task.region->inputs()[static_cast<size_t>(input)]->type().num_physical_bytes();
    }
  }
  return bytes;
}

}  // namespace

int64_t SearchPhase::ItemsOf(StageKind kind) const {
  switch (kind) {
    case StageKind::kBuild:
    case StageKind::kCheck:
    case StageKind::kTime:
      return std::ssize(pending_);
    case StageKind::kCalibrate:
      return 1;
    default:
      return std::max<int64_t>(1, std::ssize(context_.tasks));
  }
}

absl::Status SearchPhase::Run(const JobGrant& grant) {
  switch (*next_) {
    case StageKind::kPrepare:
      return Prepare();
    case StageKind::kCalibrate:
      return Calibrate(grant);
    case StageKind::kSelect:
      return Select();
    case StageKind::kBuild:
      context_.measuring.Build(pending_, context_.tasks);
      next_ = StageKind::kCheck;
      return absl::OkStatus();
    case StageKind::kCheck:
      return Check(grant);
    case StageKind::kTime:
      return Time(grant);
    default:
      return Learn();
  }
}

absl::Status SearchPhase::Prepare() {
  RETURN_IF_ERROR(ChooseLayouts());
  RETURN_IF_ERROR(LoadRecords());
  if (context_.options.transfer_from_tasks) RETURN_IF_ERROR(transfer_.Load());
  RETURN_IF_ERROR(RecordData());
  touched_.assign(context_.tasks.size(), false);
  next_ = StageKind::kCalibrate;
  return TrainModel();
}

absl::Status SearchPhase::ChooseLayouts() {
  NetworkCompiler& network = *context_.tools.network;
  TuningOptions& options = context_.options;
  if (options.transfer_from_runs) {
    ASSIGN_OR_RETURN(const RecordChooser known,
                     RecordChooser::Load(*context_.tools.records, context_.run.device, context_.run.threads));
    ASSIGN_OR_RETURN(context_.overrides, network.LayoutOverridesBy(known));
  }
  ASSIGN_OR_RETURN(std::vector<TuningTask> tasks, network.Tasks(context_.overrides));
  // With other cache modes, times say nothing about layouts in a network.
  if (options.retry_layouts && options.cache == CacheMode::kNetwork) {
    ASSIGN_OR_RETURN(context_.layout_classes, network.NumLayoutClasses());
  }
  if (options.cold_bytes == 0 && options.cache == CacheMode::kNetwork)
    options.cold_bytes = ConstantBytes(tasks);
  return TakeTasks(std::move(tasks));
}

absl::Status SearchPhase::TakeTasks(std::vector<TuningTask> tasks) {
  TuningOptions& options = context_.options;
  PartShare share(tasks.size(), Slice());
  if (options.part.is_part()) {
    const std::vector<double> weights = SearchWeights(tasks);
    const std::vector<PartShare> shares = PlanParts(weights, options.part.count);
    share = shares[static_cast<size_t>(options.part.index - 1)];
    if (options.trials > 0)
      options.trials = TrialsOfPart(options.trials, weights, shares, options.part.index - 1);
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!share[i]) continue;
    ASSIGN_OR_RETURN(context_.tasks.emplace_back(), TaskTuning::Create(std::move(tasks[i]), context_.target,
                                                                       options, options.seed + i, *share[i]));
  }
  return absl::OkStatus();
}

absl::Status SearchPhase::LoadRecords() {
  const TuningOptions& options = context_.options;
  for (const auto& task : context_.tasks) {
    ASSIGN_OR_RETURN(
        std::vector<Record> records,
        context_.tools.records->Records(
            {.task = task->task().digest, .device = context_.run.device, .threads = context_.run.threads}));
    for (const Record& record : records) {
      if (options.part.combines() && record.run != context_.run.id) ++context_.trials;
      if (record.run != context_.run.id) continue;
      ++context_.trials;
      context_.log.ContinueAfter(record.trial);
      context_.earlier_seconds += record.build_seconds / options.builders + record.measure_seconds;
    }
    // Failed candidates are not tried again, whichever run tried them, and with whatever caches.
    std::erase_if(records, [&](const Record& record) {
      const bool is_asked_for =
          record.cache == options.cache &&
          (record.run == context_.run.id || options.transfer_from_runs || options.part.combines());
      return record.outcome == TrialOutcome::kOk && !is_asked_for;
    });
    task->Transfer(records, context_.run.id, options);
  }
  return absl::OkStatus();
}

absl::Status SearchPhase::RecordData() {
  int64_t left = context_.measuring.memory_limit();
  for (const auto& task : context_.tasks) {
    left -= 4 * TaskBytes(task->task());
    if (left < 0 || context_.is_stopped()) break;
    // If the reference cannot evaluate a task, checking its candidates will report it.
    const absl::Status status = context_.measuring.RecordData(task->task());
    if (!status.ok()) context_.log.NoteUnmeasured(std::string(status.message()));
  }
  return absl::OkStatus();
}

absl::Status SearchPhase::Calibrate(const JobGrant& grant) {
  next_ = StageKind::kSelect;
  const Measurement m = context_.measuring.MeasureOne({.kind = MeasureItem::Kind::kMeasurePeaks}, grant);
  if (m.outcome != TrialOutcome::kOk) {
    if (context_.is_stopped()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat("nothing can be measured here: ", m.reason));
  }
  RETURN_IF_ERROR(CheckPeaks(m.peaks, context_.target));
  context_.peaks = m.peaks;
  if (const auto recorded = context_.Recorded("calibrate", "")) {
    ASSIGN_OR_RETURN(context_.peaks, PeaksOfJson(*recorded));
  }
  RETURN_IF_ERROR(context_.log.Log("calibrate", ToJson(context_.peaks)));
  const int threads = context_.options.threads;
  for (const auto& task : context_.tasks) {
    ASSIGN_OR_RETURN(const Work work, LeastWork(task->task(), context_.target));
    constexpr double kAtOnce = 0;  // assuming that data is in memory would hope for less
    task->SetWork(work, RooflineOf(work, kAtOnce, context_.peaks, threads).seconds,
                  BoundOf(work, context_.peaks, CachesOf(context_.target), threads).seconds);
  }
  return absl::OkStatus();
}

bool SearchPhase::IsOver() const {
  const TuningOptions& options = context_.options;
  if (options.part.combines()) return true;
  if (options.trials > 0 && context_.trials >= options.trials) return true;
  // The network is measured by the whole job.
  if (options.part.is_part()) return options.seconds > 0 && context_.SpentSeconds() >= options.seconds;
  constexpr double kMostForTheEnd = 0.5;  // of the time
  return options.seconds > 0 &&
         context_.SpentSeconds() + std::min(FinalSeconds(context_), kMostForTheEnd * options.seconds) >=
             options.seconds;
}

void SearchPhase::Choose(size_t task, std::vector<Candidate> candidates) {
  const std::vector<float> scores = context_.tasks[task]->search().Scores(candidates, context_.tools.model);
  for (size_t i = 0; i < candidates.size(); ++i) {
    pending_.push_back({.task = task,
                        .candidate = std::move(candidates[i]),
                        .score = scores.empty() ? std::nullopt : std::optional(scores[i])});
  }
}

// The first candidates include the baseline of every task: their sum is the baseline time of the network,
// and shows how much each task matters. A guess that was fast for a similar task costs one trial.
void SearchPhase::ChooseFirst() {
  has_begun_ = true;
  const TuningOptions& options = context_.options;
  for (size_t i = 0; i < context_.tasks.size(); ++i) Choose(i, context_.tasks[i]->First());
  if (options.part.combines()) return;
  for (size_t i = 0; i < context_.tasks.size() && options.trials_per_task != 1; ++i) {
    if (options.trials > 0 && context_.trials + std::ssize(pending_) >= options.trials) return;
    const std::vector<Candidate> others =
        options.transfer_from_tasks ? transfer_.FoundElsewhere(i) : std::vector<Candidate>();
    if (std::optional<Candidate> guess = context_.tasks[i]->Guess(others, context_.tools.model))
      Choose(i, {*std::move(guess)});
  }
}

absl::Status SearchPhase::Select() {
  const TuningOptions& options = context_.options;
  auto& tasks = context_.tasks;
  next_ = StageKind::kBuild;
  pending_ = std::exchange(again_, {});
  if (!pending_.empty()) return absl::OkStatus();
  if (!has_begun_) {
    ChooseFirst();
    if (!pending_.empty()) return absl::OkStatus();
  }
  while (!IsOver()) {
    std::vector<TaskProgress> progress;
    for (const auto& task : tasks) {
      const bool enough = options.trials_per_task > 0 && task->trials() >= options.trials_per_task;
      if (enough || !task->is_patient(options.patience)) task->GiveUp();
      progress.push_back(task->progress());
    }
    // A part knows its share of the network's time alone.
    const double network = (options.part.is_part() ? options.part.count : 1) * InferenceSeconds(progress);
    const auto next = ChooseTask(progress, std::isfinite(network) ? kLeastGain * network : 0);
    if (!next.has_value()) break;
    TaskTuning& task = *tasks[next->task];
    int64_t batch = options.batch;
    if (options.trials > 0) batch = std::min(batch, options.trials - context_.trials);
    if (options.trials_per_task > 0) batch = std::min(batch, options.trials_per_task - task.trials());
    if (options.transfer_from_tasks) task.search().Hint(transfer_.FoundElsewhere(next->task));
    Choose(next->task, task.Propose(static_cast<int>(batch), context_.tools.model));
    if (!pending_.empty()) {
      return context_.log.Log("select", {{"task", task.task().digest},
                                         {"candidates", pending_.size()},
                                         {"expected_gain", std::isfinite(next->gain) ? next->gain : -1}});
    }
  }
  next_ = std::nullopt;
  return absl::OkStatus();
}

absl::Status SearchPhase::Check(const JobGrant& grant) {
  next_ = StageKind::kTime;
  return context_.measuring.Check(pending_, context_.tasks, grant);
}

absl::StatusOr<bool> SearchPhase::Take(Attempt& attempt, const Measurement& measurement) {
  TaskTuning& task = *context_.tasks[attempt.task];
  if (measurement.outcome == TrialOutcome::kRetry) {
    context_.log.NoteUnmeasured(measurement.reason);
    attempt.check = {};  // the worker that has checked it may be gone
    const bool is_given_up = ++attempt.retries > kMostRetries;
    if (is_given_up) ++given_up_;
    return is_given_up;
  }
  given_up_ = 0;
  if (attempt.is_built())
    context_.measuring.execution_limit().Note(measurement.outcome == TrialOutcome::kTimedOut);
  TrialNote note = {.outcome = measurement.outcome,
                    .timing = measurement.timing,
                    .reason = measurement.reason,
                    .search = context_.options.search,
                    .code_digest = attempt.built.kernel.code_digest,
                    .build_seconds = attempt.built.seconds,
                    .measure_seconds = attempt.check.seconds + measurement.seconds};
  const bool is_reference = task.IsReference(attempt.candidate);
  if (!is_reference && !context_.options.part.combines()) ++context_.trials;
  touched_[attempt.task] = true;
  if (measurement.outcome != TrialOutcome::kOk) {
    task.AddFailure(attempt.candidate);
    note.timing = {};
    RETURN_IF_ERROR(context_.log.Keep(task.task(), attempt.candidate, note));
    return true;
  }
  if (measurement.normalized_seconds > 0) {
    const double drift = measurement.normalized_seconds / note.timing.seconds;
    note.timing = {note.timing.seconds * drift, note.timing.low * drift, note.timing.high * drift,
                   note.timing.repetitions};
  }
  if (!is_reference) RETURN_IF_ERROR(context_.log.Keep(task.task(), attempt.candidate, note));
  task.Add(attempt.candidate, measurement, *attempt.kernel, attempt.built.kernel.code_digest);
  return true;
}

absl::Status SearchPhase::Time(const JobGrant& grant) {
  std::vector<float> predicted, measured;
  std::vector<Measuring::Timed> timed;
  for (Attempt& attempt : pending_) {
    const TaskTuning& task = *context_.tasks[attempt.task];
    const TaskTimes& times = task.times();
    MeasureOptions options = context_.measuring.Options(task);
    if (!times.best().has_value()) options.abandon_ratio = 0;
    if (times.baseline().has_value() && times.best().has_value())
      options.best_ratio = times.best_seconds() / times.baseline_seconds();
    timed.push_back({&attempt, options});
  }
  const auto take = [&](size_t i, const Measurement& measurement) -> absl::StatusOr<bool> {
    Attempt& attempt = *timed[i].attempt;
    if (context_.is_stopped() && measurement.outcome == TrialOutcome::kRetry) return false;
    ASSIGN_OR_RETURN(const bool is_over, Take(attempt, measurement));
    if (!is_over) again_.push_back(attempt);
    if (attempt.score.has_value() && measurement.outcome == TrialOutcome::kOk) {
      predicted.push_back(*attempt.score);
      measured.push_back(static_cast<float>(-measurement.comparable_seconds()));
    }
    return !context_.is_stopped();
  };
  size_t taken = 0;
  RETURN_IF_ERROR(context_.measuring.Time(timed, context_.tasks, grant,
                                          [&](size_t i, const Measurement& m) -> absl::StatusOr<bool> {
                                            taken = i + 1;
                                            ASSIGN_OR_RETURN(const bool goes_on, take(i, m));
                                            return goes_on && !context_.IsLate();
                                          }));
  // Every task deserves its first trial, that of its baseline.
  timed.erase(timed.begin(), timed.begin() + static_cast<std::ptrdiff_t>(taken));
  std::erase_if(timed, [&](const Measuring::Timed& one) {
    return one.attempt->candidate != context_.tasks[one.attempt->task]->Default();
  });
  if (!timed.empty() && !context_.is_stopped())
    RETURN_IF_ERROR(context_.measuring.Time(timed, context_.tasks, grant, take));

  if (!context_.log.has_kept() && !context_.log.unmeasured().empty() && !context_.is_stopped()) {
    return absl::FailedPreconditionError(
        absl::StrCat("nothing can be measured here: ", context_.log.unmeasured()));
  }
  if (given_up_ >= kMostGivenUp && !context_.is_stopped()) {
    return absl::FailedPreconditionError(
        absl::StrCat("measuring does not work any more: ", context_.log.unmeasured(),
                     "; the measurements so far are on record, and the same command resumes from there"));
  }
  if (const auto correlation = KendallTau(predicted, measured))
    context_.ranks.push_back({context_.trials, *correlation});
  if (const double seconds = context_.NetworkSeconds(); std::isfinite(seconds))
    context_.curve.push_back({context_.SpentSeconds(), context_.trials, seconds});
  next_ = StageKind::kLearn;
  return absl::OkStatus();
}

absl::Status SearchPhase::Learn() {
  for (size_t i = 0; i < context_.tasks.size(); ++i) {
    if (touched_[i]) context_.tasks[i]->EndBatch();
    touched_[i] = false;
  }
  pending_.clear();
  context_.measuring.execution_limit().EndBatch();
  next_ = StageKind::kSelect;
  return TrainModel();
}

absl::Status SearchPhase::TrainModel() {
  if (context_.tools.model == nullptr) return absl::OkStatus();
  std::vector<TaskSamples> samples = transfer_.samples();
  for (const auto& task : context_.tasks) {
    TaskSamples own = task->search().Samples();
    if (own.features.size() > 1) samples.push_back(std::move(own));
  }
  // With few measurements, there is nothing to learn yet.
  const absl::Status status = context_.tools.model->Update(samples);
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) ? absl::OkStatus() : status;
}

}  // namespace attune

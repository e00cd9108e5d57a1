// A job's measurements, and the records that come of them.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "compile/compile.h"
#include "tune/cost_model/rank_correlation.h"
#include "tune/job/job.h"

namespace attune {

MeasureOptions TuningJob::MeasuringOptions() const {
  MeasureOptions options;
  options.cache = options_.cache;
  options.cold_bytes = options_.cold_bytes;
  options.threads = options_.threads;
  options.seconds_limit = options_.measure_seconds;
  options.memory_bytes_limit = std::min(options.memory_bytes_limit, memory_of_machine_ / 2);
  return options;
}

Record TuningJob::NewRecord(const TuningTask& task, const Candidate& candidate) {
  return {.task = task.text,
          .flops = task.flops,
          .strategy = candidate.strategy,
          .strategy_version = FindStrategy(candidate.strategy)->version,
          .config = candidate.config,
          .device = run_.device,
          .threads = run_.threads,
          .timing = {},
          .reason = "",
          .run = run_.id,
          .trial = next_number_++,
          .search = std::string(kConfirmation),
          .compiler_version = std::string(kCompilerVersion),
          .code_digest = "",
          .cache = options_.cache,
          .time_ms = tools_.wall_clock()};
}

absl::Status TuningJob::Keep(const Pending& pending, TrialOutcome outcome, const Timing& timing,
                             const std::string& reason, double measure_seconds, std::string_view search) {
  Record record = NewRecord(tasks_[pending.task]->task(), pending.candidate);
  record.outcome = outcome;
  record.timing = timing;
  record.reason = reason;
  record.search = search;
  record.code_digest = pending.built.kernel.code_digest;
  record.build_seconds = pending.built.seconds;
  record.measure_seconds = measure_seconds;
  return KeepRecord(record);
}

absl::Status TuningJob::KeepRecord(const Record& record) {
  if (record.outcome == TrialOutcome::kRetry) {
    unmeasured_ = record.reason;
  } else {
    RETURN_IF_ERROR(tools_.records->Add(record).status());
    measures_ = true;
  }
  nlohmann::json fields = {{"task", TaskDigest(record.task)},
                           {"candidate", ToString(record.strategy, record.config)},
                           {"outcome", Name(record.outcome)},
                           {"trial", record.trial},
                           {"trial_seconds", record.timing.seconds}};
  if (!record.reason.empty()) fields["reason"] = record.reason;
  return Log("trial", std::move(fields));
}

// What comes of a candidate that is built: as measured, or as recorded.
absl::StatusOr<Measurement> TuningJob::Measure(const Pending& pending, const MeasureOptions& options,
                                               const Incumbent* incumbent) {
  const TuningTask& task = tasks_[pending.task]->task();
  const std::string candidate = ToString(pending.candidate.strategy, pending.candidate.config);
  Measurement m = tools_.measurer->Measure(task, pending.built.kernel, options, incumbent);
  if (tools_.recording != nullptr)
    m = tools_.recording->NextMeasurement(task.digest, candidate).value_or(std::move(m));
  nlohmann::json fields = ToJson(m);
  fields["task"] = task.digest;
  fields["candidate"] = candidate;
  RETURN_IF_ERROR(Log("measurement", std::move(fields)));
  return m;
}

absl::Status TuningJob::MeasureOne(Pending& pending) {
  TaskTuning& task = *tasks_[pending.task];
  const bool is_reference = task.IsReference(pending.candidate);
  if (!is_reference) ++trials_;
  if (pending.built.outcome != TrialOutcome::kOk) {
    task.AddFailure(pending.candidate);
    return Keep(pending, pending.built.outcome, {}, pending.built.reason, 0, options_.search);
  }
  const std::optional<Incumbent> incumbent = task.incumbent();
  MeasureOptions options = MeasuringOptions();
  if (!task.best().has_value()) options.abandon_ratio = 0;
  if (incumbent.has_value() && task.best().has_value())
    options.best_ratio = task.best_seconds() / incumbent->seconds;
  ASSIGN_OR_RETURN(const Measurement m,
                   Measure(pending, options, incumbent.has_value() ? &*incumbent : nullptr));
  if (m.outcome != TrialOutcome::kOk) {
    task.AddFailure(pending.candidate);
    return Keep(pending, m.outcome, {}, m.reason, m.seconds, options_.search);
  }
  Timing timing = m.timing;
  if (m.normalized_seconds > 0) {
    const double drift = m.normalized_seconds / timing.seconds;
    timing = {timing.seconds * drift, timing.low * drift, timing.high * drift, timing.repetitions};
  }
  pending.seconds = timing.seconds;
  if (!is_reference) RETURN_IF_ERROR(Keep(pending, m.outcome, timing, "", m.seconds, options_.search));
  task.Add(pending.candidate, m, std::move(pending.built.kernel));
  return absl::OkStatus();
}

absl::Status TuningJob::Measure() {
  std::vector<float> predicted, measured;
  for (Pending& pending : pending_) {
    // Every task is worth its first trial, of the default.
    const bool can_wait = pending.candidate != tasks_[pending.task]->space().Default();
    if (is_stopped() || (can_wait && IsLate())) break;
    RETURN_IF_ERROR(MeasureOne(pending));
    if (!pending.score.has_value() || pending.seconds <= 0) continue;
    predicted.push_back(*pending.score);
    measured.push_back(static_cast<float>(-pending.seconds));
  }
  if (!measures_ && !unmeasured_.empty())
    return absl::FailedPreconditionError(absl::StrCat("nothing can be measured here: ", unmeasured_));
  if (const auto correlation = KendallTau(predicted, measured)) ranks_.push_back({trials_, *correlation});
  if (const double seconds = NetworkSeconds(); std::isfinite(seconds)) {
    curve_.push_back({Elapsed(), trials_, seconds});
  }
  next_ = StageKind::kUpdate;
  return absl::OkStatus();
}

}  // namespace attune

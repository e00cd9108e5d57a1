#include "tune/job/final_phase.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "measure/timing.h"
#include "tune/job/layout_trial.h"

namespace attune {
namespace {

// The most candidates of a task that are measured again at the end.
constexpr size_t kConfirmed = 3;
constexpr double kConfirmSeconds = 1;  // the most for each
// The same limits if the time is over.
constexpr size_t kConfirmedLate = 1;
constexpr double kConfirmSecondsLate = 0.2;
// How often, at most, and how long kernels are compared within the network.
constexpr int kComparisons = 3;
constexpr double kCompareSeconds = 5, kLayoutSeconds = 3;
// A network is only measured for a short time, so it is measured once more before all baselines are
// restored.
constexpr int kNetworkTimesToBelieve = 2;
constexpr double kConfidence = 0.95;

// The ratio of the times of a kernel of the candidate to those of a kernel of the baseline, in the same
// turns; both are given by the digests of their code. Nothing if the clock measured no time.
std::optional<MedianInterval> RatioOfTurns(const Measurement& profile, const std::string& candidate,
                                           const std::string& baseline) {
  const auto seconds = profile.profile.find(candidate);
  const auto others = profile.baseline_profile.find(baseline);
  if (seconds == profile.profile.end() || others == profile.baseline_profile.end()) return std::nullopt;
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(seconds->second.size(), others->second.size()); ++i) {
    if (others->second[i] > 0) ratios.push_back(seconds->second[i] / others->second[i]);
  }
  if (ratios.empty()) return std::nullopt;
  return FindMedian(ratios, kConfidence);
}

}  // namespace

double FinalSeconds(const TuningContext& context) {
  // Stages for each task that has found something, and for the network's kernels, its layouts and the
  // network itself.
  const double each = context.times.SecondsOfItem(StageKind::kConfirmBuild) +
                      context.times.SecondsOfItem(StageKind::kConfirmTime);
  const int stages = context.layout_classes + 2;
  return static_cast<double>(context.Best().size()) * each + stages * kNetworkSeconds;
}

std::vector<size_t> FinalPhase::Unconfirmed() const {
  std::vector<size_t> tasks;
  for (size_t i = 0; i < context_.tasks.size(); ++i) {
    if (!confirmed_.contains(i) && !context_.tasks[i]->ToConfirm(1).empty()) tasks.push_back(i);
  }
  return tasks;
}

int64_t FinalPhase::ItemsOf(StageKind kind) const {
  return kind == StageKind::kConfirmBuild ? std::ssize(Unconfirmed()) : 1;
}

// After a stop request, skip all stages: the user does not want to wait for them.
StageKind FinalPhase::next() const {
  const bool is_searched_alone = !context_.options.use_defaults || context_.options.part.is_part();
  if (context_.is_stopped() || is_searched_alone) return StageKind::kFinish;
  if (!confirming_.empty()) return StageKind::kConfirmTime;
  if (!is_compared_) {
    if (!Unconfirmed().empty()) return StageKind::kConfirmBuild;
    if (!context_.Best().empty())
      return pair_.has_value() ? StageKind::kCompareTime : StageKind::kCompareBuild;
  }
  if (tried_layouts_ < context_.layout_classes && (pair_.has_value() || !context_.IsLate()))
    return pair_.has_value() ? StageKind::kLayoutTime : StageKind::kLayoutBuild;
  if (!is_measured_) return pair_.has_value() ? StageKind::kNetworkTime : StageKind::kNetworkBuild;
  return StageKind::kFinish;
}

absl::Status FinalPhase::Run(const JobGrant& grant) {
  switch (next()) {
    case StageKind::kConfirmBuild:
      return ConfirmBuild(grant);
    case StageKind::kConfirmTime:
      return ConfirmTime(grant);
    case StageKind::kCompareBuild:
      return BuildPair({}, context_.overrides, context_.Best(), context_.overrides);
    case StageKind::kCompareTime:
      return CompareTime(grant);
    case StageKind::kLayoutBuild:
      return BuildPair(context_.Best(), context_.overrides, context_.Best(), OtherLayouts());
    case StageKind::kLayoutTime:
      return LayoutTime(grant);
    case StageKind::kNetworkBuild:
      return BuildPair({}, {}, context_.Best(), context_.overrides);
    case StageKind::kNetworkTime:
      return NetworkTime(grant);
    default:
      return Finish();
  }
}

absl::Status FinalPhase::ConfirmBuild(const JobGrant& grant) {
  const size_t most = context_.IsLate() ? kConfirmedLate : kConfirmed;
  std::vector<Attempt> attempts;
  for (const size_t index : Unconfirmed()) {
    const TaskTuning& task = *context_.tasks[index];
    std::vector<Candidate> candidates = task.ToConfirm(most);
    candidates.insert(candidates.begin(), task.Default());
    for (Candidate& candidate : candidates) {
      attempts.push_back({.task = index, .candidate = std::move(candidate)});
    }
  }
  context_.measuring.Build(attempts, context_.tasks);
  RETURN_IF_ERROR(context_.measuring.Check(attempts, context_.tasks, grant));
  for (Attempt& attempt : attempts) {
    if (confirming_.empty() || confirming_.back().task != attempt.task)
      confirming_.push_back({.task = attempt.task, .attempts = {}});
    confirming_.back().attempts.push_back(std::move(attempt));
  }
  return absl::OkStatus();
}

absl::Status FinalPhase::NoteConfirmation(TaskTuning& task, const Attempt& attempt, const Measurement& m) {
  TrialNote note = {.outcome = m.outcome,
                    .reason = m.reason,
                    .search = context_.options.search,
                    .code_digest = attempt.built.kernel.code_digest,
                    .build_seconds = attempt.built.seconds,
                    .measure_seconds = attempt.check.seconds + m.seconds};
  if (m.outcome != TrialOutcome::kOk || m.ratio <= 0) {
    if (m.outcome != TrialOutcome::kRetry)  // else it may still be confirmed
      task.times().Confirm(attempt.candidate, std::numeric_limits<double>::infinity(), false, "");
    return m.outcome == TrialOutcome::kOk ? absl::OkStatus()
                                          : context_.log.Keep(task.task(), attempt.candidate, note);
  }
  const double baseline = task.times().baseline_seconds();
  note.timing = {baseline * m.ratio, baseline * m.ratio_low, baseline * m.ratio_high, m.timing.repetitions};
  const bool is_faster = m.is_significant && m.ratio_high < 1;
  if (is_faster) note.search = kConfirmation;
  task.times().Confirm(attempt.candidate, note.timing.seconds, is_faster, note.code_digest);
  RETURN_IF_ERROR(context_.log.Keep(task.task(), attempt.candidate, note));
  return context_.log.Log("confirm",
                          {{"task", task.task().digest},
                           {"candidate", ToString(attempt.candidate.strategy, attempt.candidate.config)},
                           {"ratio", m.ratio},
                           {"ratio_low", m.ratio_low},
                           {"ratio_high", m.ratio_high}});
}

absl::Status FinalPhase::ConfirmTime(const JobGrant& grant) {
  Confirming confirming = std::move(confirming_.front());
  confirming_.pop_front();
  confirmed_.insert(confirming.task);
  TaskTuning& task = *context_.tasks[confirming.task];
  const bool late = context_.IsLate();
  MeasureOptions options = context_.measuring.Options();
  options.precision = 0.002;
  options.seconds_limit = late ? kConfirmSecondsLate : kConfirmSeconds;
  options.abandon_ratio = 0;
  options.until_significant = true;
  const Attempt& baseline = confirming.attempts.front();
  size_t confirmed = 0;
  for (; baseline.is_built() && confirmed < (late ? kConfirmedLate : kConfirmed); ++confirmed) {
    const std::vector<Candidate> next = task.ToConfirm(1);
    if (next.empty() || context_.is_stopped()) break;
    const auto attempt = std::ranges::find(confirming.attempts, next.front(), &Attempt::candidate);
    if (attempt == confirming.attempts.end()) break;
    const Measuring::Timed timed = {&*attempt, options};
    const auto note = [&](size_t, const Measurement& m) -> absl::StatusOr<bool> {
      const bool is_dropped = context_.is_stopped() && m.outcome == TrialOutcome::kRetry;
      if (!is_dropped) RETURN_IF_ERROR(NoteConfirmation(task, *attempt, m));
      return true;
    };
    RETURN_IF_ERROR(context_.measuring.Time({&timed, 1}, context_.tasks, grant, note));
  }
  if (confirmed == 0) return absl::OkStatus();
  const double seconds = task.times().baseline_seconds();
  return context_.log.Keep(task.task(), baseline.candidate,
                           {.timing = {seconds, seconds, seconds, 1},
                            .search = kConfirmation,
                            .code_digest = baseline.built.kernel.code_digest,
                            .build_seconds = baseline.built.seconds});
}

absl::Status FinalPhase::BuildPair(const BestConfigs& baseline_configs,
                                   const LayoutOverrides& baseline_overrides, const BestConfigs& configs,
                                   const LayoutOverrides& overrides) {
  NetworkCompiler& network = *context_.tools.network;
  ASSIGN_OR_RETURN(NetworkBuild baseline, network.Compile(baseline_configs, baseline_overrides));
  ASSIGN_OR_RETURN(NetworkBuild candidate, network.Compile(configs, overrides));
  for (const Blob* blob : {&baseline.inputs, &baseline.artifact, &candidate.artifact})
    RETURN_IF_ERROR(context_.measuring.Put(*blob));
  pair_ = Pair{std::move(baseline), std::move(candidate)};
  return absl::OkStatus();
}

Measurement FinalPhase::MeasurePair(MeasureItem::Kind kind, double seconds, const JobGrant& grant) {
  if (pair_->candidate.HasKernelsOf(pair_->baseline)) {
    Measurement same;
    same.outcome = TrialOutcome::kOk;
    same.ratio = same.ratio_low = same.ratio_high = 1;
    return same;
  }
  MeasureItem item;
  item.kind = kind;
  item.subject = pair_->candidate.artifact.digest();
  item.baseline = pair_->baseline.artifact.digest();
  item.data = pair_->baseline.inputs.digest();
  item.options.precision = 0.001;
  item.options.seconds_limit = seconds;
  item.options.abandon_ratio = 0;
  item.options.max_batches = 5000;
  return context_.measuring.MeasureOne(std::move(item), grant);
}

// If the turns do not show which one is faster, the result of the separate, significant measurement still
// counts: chance must not decide. If the best is slower here, it is no longer the best; the next best is
// confirmed and compared, but only a limited number of times.
absl::Status FinalPhase::CompareTime(const JobGrant& grant) {
  is_compared_ = true;
  ++comparisons_;
  const Measurement m = MeasurePair(MeasureItem::Kind::kProfileNetwork, kCompareSeconds, grant);
  pair_.reset();
  if (m.outcome != TrialOutcome::kOk) {
    return context_.log.Log("compare_failed", {{"outcome", Name(m.outcome)}, {"reason", m.reason}});
  }
  for (size_t i = 0; i < context_.tasks.size(); ++i) {
    TaskTuning& task = *context_.tasks[i];
    const std::optional<TaskTimes::Code> code = task.times().ConfirmedCode();
    if (!code.has_value()) continue;
    std::optional<MedianInterval> ratio = RatioOfTurns(m, code->best, code->baseline);
    if (!ratio.has_value()) continue;
    const std::string candidate = ToString(task.times().best()->strategy, task.times().best()->config);
    if (const auto recorded = context_.Recorded("compare", CandidateKey(task.task().digest, candidate)))
      ratio = {recorded->at("ratio"), recorded->at("ratio_low"), recorded->at("ratio_high")};
    RETURN_IF_ERROR(context_.log.Log("compare", {{"task", task.task().digest},
                                                 {"candidate", candidate},
                                                 {"ratio", ratio->median},
                                                 {"ratio_low", ratio->low},
                                                 {"ratio_high", ratio->high}}));
    if (ratio->low < 1 && ratio->high >= 1) continue;
    const bool is_faster = ratio->high < 1;
    RETURN_IF_ERROR(KeepRatio(i, *code, ratio->median, is_faster));
    if (is_faster) continue;
    if (comparisons_ == kComparisons || context_.IsLate()) {
      // Otherwise other candidates that are faster by themselves would remain without having been compared.
      RETURN_IF_ERROR(KeepDefault(i, ratio->median));
    } else {
      is_compared_ = false;
      confirmed_.clear();
    }
  }
  return absl::OkStatus();
}

LayoutOverrides FinalPhase::OtherLayouts() const {
  LayoutOverrides layouts = context_.overrides;
  if (!layouts.insert(tried_layouts_).second) layouts.erase(tried_layouts_);
  return layouts;
}

// The layouts were chosen by predictions, before anything was measured. Tries other layouts with the best
// kernels so far. If the network is faster with them, the times of all kernels that differ are recorded, so
// that the compiler chooses these layouts too.
absl::Status FinalPhase::LayoutTime(const JobGrant& grant) {
  Measurement m = MeasurePair(MeasureItem::Kind::kTimeNetwork, kLayoutSeconds, grant);
  bool is_adopted = m.outcome == TrialOutcome::kOk && m.ratio_high < 1;
  if (const auto recorded = context_.Recorded("layout", absl::StrCat(tried_layouts_)))
    is_adopted = recorded->at("adopted").get<bool>();
  RETURN_IF_ERROR(context_.log.Log("layout", {{"class", tried_layouts_},
                                              {"adopted", is_adopted},
                                              {"ratio_low", m.ratio_low},
                                              {"ratio_high", m.ratio_high}}));
  if (is_adopted) {
    m = MeasurePair(MeasureItem::Kind::kProfileNetwork, kCompareSeconds, grant);
    const LayoutOverrides layouts = OtherLayouts();
    const LayoutChange change = {.before = context_.overrides,
                                 .after = layouts,
                                 .best = context_.Best(),
                                 .build_before = &pair_->baseline,
                                 .build_after = &pair_->candidate};
    ASSIGN_OR_RETURN(const std::vector<ChangedKernel> kernels,
                     KernelsThatDiffer(change, m, *context_.tools.network, context_.target));
    for (const ChangedKernel& kernel : kernels) {
      RETURN_IF_ERROR(context_.log.Keep(kernel.task, kernel.candidate,
                                        {.timing = {kernel.seconds, kernel.seconds, kernel.seconds, 1},
                                         .search = kConfirmation,
                                         .code_digest = kernel.code_digest}));
    }
    context_.overrides = layouts;
  }
  pair_.reset();
  ++tried_layouts_;
  return absl::OkStatus();
}

// Kernels that are each faster may be slower together, because of where their code and data are in memory.
// If the network is significantly slower, and again when measured once more, all tasks go back to their
// baselines.
absl::Status FinalPhase::NetworkTime(const JobGrant& grant) {
  Measurement m = MeasurePair(MeasureItem::Kind::kTimeNetwork, kNetworkSeconds, grant);
  const bool is_baseline = pair_->candidate.HasKernelsOf(pair_->baseline);
  pair_.reset();
  if (m.outcome != TrialOutcome::kOk) {
    is_measured_ = true;
    return context_.log.Log("network_failed", {{"outcome", Name(m.outcome)}, {"reason", m.reason}});
  }
  double untuned = m.baseline_seconds, tuned = m.baseline_seconds * m.ratio;
  if (is_baseline) untuned = tuned = context_.run.untuned_seconds;  // 0 if it was never measured
  if (const auto recorded = context_.Recorded("network", "")) {
    untuned = recorded->at("untuned_seconds");
    tuned = recorded->at("tuned_seconds");
    m.ratio_low = recorded->at("ratio_low");
    m.ratio_high = recorded->at("ratio_high");
  }
  RETURN_IF_ERROR(context_.log.Log("network", {{"untuned_seconds", untuned},
                                               {"tuned_seconds", tuned},
                                               {"ratio_low", m.ratio_low},
                                               {"ratio_high", m.ratio_high},
                                               {"is_baseline", is_baseline}}));
  context_.run.untuned_seconds = untuned;
  context_.run.tuned_seconds = tuned;
  const bool is_slower = m.ratio_low > 1 && !context_.Best().empty();
  ++network_times_;
  if (is_slower && network_times_ < kNetworkTimesToBelieve) return absl::OkStatus();  // measure once more
  is_measured_ = !is_slower;
  if (!is_slower) return absl::OkStatus();
  for (size_t i = 0; i < context_.tasks.size(); ++i) RETURN_IF_ERROR(KeepDefault(i, tuned / untuned));
  return absl::OkStatus();
}

// Records that the best candidate, with this code, takes `ratio` times as long as the baseline.
absl::Status FinalPhase::KeepRatio(size_t index, const TaskTimes::Code& code, double ratio, bool is_faster) {
  TaskTuning& task = *context_.tasks[index];
  const Candidate candidate = *task.times().best();
  const double seconds = task.times().baseline_seconds() * ratio;
  task.times().Confirm(candidate, seconds, is_faster, code.best);
  return context_.log.Keep(
      task.task(), candidate,
      {.timing = {seconds, seconds, seconds, 1}, .search = kConfirmation, .code_digest = code.best});
}

absl::Status FinalPhase::KeepDefault(size_t index, double ratio) {
  while (const std::optional<TaskTimes::Code> code = context_.tasks[index]->times().ConfirmedCode())
    RETURN_IF_ERROR(KeepRatio(index, *code, ratio, /*is_faster=*/false));
  return absl::OkStatus();
}

absl::Status FinalPhase::Finish() {
  const double seconds = context_.NetworkSeconds();
  if (!context_.tasks.empty() && std::isfinite(seconds)) {
    // Times that were due to selection bias were never really reached.
    for (CurvePoint& point : context_.curve) point.network_seconds = std::max(point.network_seconds, seconds);
    context_.curve.push_back({context_.SpentSeconds(), context_.trials, seconds});
  }
  context_.run.state = context_.is_stopped() ? RunState::kInterrupted : RunState::kFinished;
  is_over_ = true;
  return absl::OkStatus();
}

}  // namespace attune

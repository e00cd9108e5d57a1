// The end of a job: what was found is measured again, task by task, then the network.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "measure/timing.h"
#include "tune/job/job.h"

namespace attune {
namespace {

// So many of a task's candidates are measured again at the end, at most.
constexpr int kConfirmed = 3;
constexpr double kConfirmSeconds = 1;  // each, at the longest
// When the time is over.
constexpr int kConfirmedLate = 1;
constexpr double kConfirmSecondsLate = 0.2;
// So often the kernels are compared within the network, at most.
constexpr int kComparisons = 3;
constexpr double kConfidence = 0.95;

// Of the times of one kernel to those of another, in the same turns. Nothing where the clock saw nothing.
std::optional<MedianInterval> RatioOfTurns(const std::vector<double>& seconds,
                                           const std::vector<double>& standard) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(seconds.size(), standard.size()); ++i) {
    if (standard[i] > 0) ratios.push_back(seconds[i] / standard[i]);
  }
  if (ratios.empty()) return std::nullopt;
  return FindMedian(ratios, kConfidence);
}

}  // namespace

// What was measured once, among many, is partly the fastest by luck: it counts when it is faster once more,
// in turns with the default and for longer.
absl::Status TuningJob::Confirm(size_t index) {
  TaskTuning& task = *tasks_[index];
  if (task.default_seconds() <= 0) return absl::OkStatus();
  std::vector<BuildRequest> requests = {{&task.task(), task.space().Default()}};
  Pending standard{.task = index, .candidate = task.space().Default(), .score = {}, .built = {}};
  standard.built = std::move(tools_.builder->Build(requests).front());
  if (standard.built.outcome != TrialOutcome::kOk) return absl::OkStatus();
  MeasureOptions options = MeasuringOptions();
  options.precision = 0.002;
  const bool late = IsLate();
  options.seconds_limit = late ? kConfirmSecondsLate : kConfirmSeconds;
  options.abandon_ratio = 0;
  options.until_sure = true;
  int confirmed = 0;
  for (; confirmed < (late ? kConfirmedLate : kConfirmed) && !is_stopped(); ++confirmed) {
    std::optional<Candidate> next = task.NextToConfirm();
    if (!next.has_value()) break;
    Pending pending{.task = index, .candidate = *std::move(next), .score = {}, .built = {}};
    requests[0].candidate = pending.candidate;
    pending.built = std::move(tools_.builder->Build(requests).front());
    const Incumbent incumbent{&standard.built.kernel, task.default_seconds()};
    Measurement m;
    m.outcome = pending.built.outcome;
    m.reason = pending.built.reason;
    if (m.outcome == TrialOutcome::kOk) {
      ASSIGN_OR_RETURN(m, Measure(pending, options, &incumbent));
    }
    if (m.outcome != TrialOutcome::kOk || m.ratio <= 0) {
      task.Confirm(pending.candidate, std::numeric_limits<double>::infinity(), false, "");
      if (m.outcome != TrialOutcome::kOk)
        RETURN_IF_ERROR(Keep(pending, m.outcome, {}, m.reason, m.seconds, options_.search));
      continue;
    }
    const Timing timing = {incumbent.seconds * m.ratio, incumbent.seconds * m.ratio_low,
                           incumbent.seconds * m.ratio_high, m.timing.repetitions};
    const bool is_faster = m.is_ratio_sure && m.ratio_high < 1;
    task.Confirm(pending.candidate, timing.seconds, is_faster, pending.built.kernel.code_digest);
    RETURN_IF_ERROR(
        Keep(pending, m.outcome, timing, "", m.seconds, is_faster ? kConfirmation : options_.search));
    RETURN_IF_ERROR(
        Log("confirm", {{"task", task.task().digest},
                        {"candidate", ToString(pending.candidate.strategy, pending.candidate.config)},
                        {"ratio", m.ratio},
                        {"ratio_low", m.ratio_low},
                        {"ratio_high", m.ratio_high}}));
  }
  if (confirmed == 0) return absl::OkStatus();
  const double seconds = task.default_seconds();
  return Keep(standard, TrialOutcome::kOk, {seconds, seconds, seconds, 1}, "", 0, kConfirmation);
}

// A kernel that is faster by itself may be slower than the default between its neighbours, which leave other
// data in the caches. Then the next best is confirmed and compared, but not for ever. What kernels surely
// took there is the last that the records say of them. Where the turns leave open which one is faster, what
// was sure of them by themselves still counts: chance must not decide.
absl::Status TuningJob::CompareInNetwork() {
  is_compared_ = true;
  ++comparisons_;
  ASSIGN_OR_RETURN(const NetworkProfile profile, tools_.profile_network(Best()));
  for (size_t i = 0; i < tasks_.size(); ++i) {
    TaskTuning& task = *tasks_[i];
    const std::optional<TaskTuning::Code> code = task.ConfirmedCode();
    if (!code.has_value()) continue;
    const auto standard = profile.untuned.find(code->standard), tuned = profile.tuned.find(code->best);
    if (standard == profile.untuned.end() || tuned == profile.tuned.end()) continue;
    std::optional<MedianInterval> ratio = RatioOfTurns(tuned->second, standard->second);
    if (!ratio.has_value()) continue;
    const std::string candidate = ToString(task.best()->strategy, task.best()->config);
    const std::string subject = absl::StrCat(task.task().digest, " ", candidate);
    if (const auto recorded = Recorded("compare", subject))
      ratio = {recorded->at("ratio"), recorded->at("ratio_low"), recorded->at("ratio_high")};
    RETURN_IF_ERROR(Log("compare", {{"task", task.task().digest},
                                    {"candidate", candidate},
                                    {"ratio", ratio->median},
                                    {"ratio_low", ratio->low},
                                    {"ratio_high", ratio->high}}));
    if (ratio->low < 1 && ratio->high >= 1) continue;
    const bool is_faster = ratio->high < 1;
    RETURN_IF_ERROR(KeepRatio(i, *code, ratio->median, is_faster));
    if (is_faster) continue;
    if (comparisons_ == kComparisons || IsLate()) {
      // Whatever else is faster by itself would stay without a comparison.
      RETURN_IF_ERROR(KeepDefault(i, ratio->median));
      continue;
    }
    is_compared_ = false;
    finalized_ = 0;
  }
  return absl::OkStatus();
}

// The blocks were chosen by predictions, before anything was measured. Other ones are tried with what is best
// now; where the network is faster with them, the times of all kernels that differ make compilation choose
// them, too.
absl::Status TuningJob::TryLayout(int block_class) {
  std::optional<bool> is_adopted;
  if (const auto recorded = Recorded("layout", absl::StrCat(block_class)))
    is_adopted = recorded->at("adopted").get<bool>();
  ASSIGN_OR_RETURN(const LayoutTrial trial, tools_.try_layout(block_class, Best(), is_adopted));
  for (const LayoutTrial::Kernel& kernel : trial.kernels) {
    Record record = NewRecord(kernel.task, kernel.candidate);
    record.timing = {kernel.seconds, kernel.seconds, kernel.seconds, 1};
    record.code_digest = kernel.code_digest;
    RETURN_IF_ERROR(KeepRecord(record));
  }
  return Log("layout", {{"class", block_class},
                        {"adopted", trial.is_adopted},
                        {"ratio_low", trial.ratio_low},
                        {"ratio_high", trial.ratio_high}});
}

absl::StatusOr<NetworkTimes> TuningJob::TimeNetwork() {
  ASSIGN_OR_RETURN(NetworkTimes times, tools_.measure_network(Best()));
  if (const auto recorded = Recorded("network", "")) {
    times = {recorded->at("untuned_seconds"), recorded->at("tuned_seconds"), recorded->at("ratio_low"),
             recorded->at("ratio_high")};
  }
  RETURN_IF_ERROR(Log("network", {{"untuned_seconds", times.untuned},
                                  {"tuned_seconds", times.tuned},
                                  {"ratio_low", times.ratio_low},
                                  {"ratio_high", times.ratio_high}}));
  return times;
}

// Kernels that are each faster may be slower together, by where their code and data lie. When the network is
// measured surely slower, and once more, since it is measured for a short time only, all defaults are kept.
absl::Status TuningJob::MeasureNetwork() {
  if (tools_.measure_network == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(NetworkTimes times, TimeNetwork());
  if (times.ratio_low > 1 && !Best().empty()) {
    ASSIGN_OR_RETURN(times, TimeNetwork());
    if (times.ratio_low > 1) {
      for (size_t i = 0; i < tasks_.size(); ++i) RETURN_IF_ERROR(KeepDefault(i, times.tuned / times.untuned));
      ASSIGN_OR_RETURN(times, TimeNetwork());
    }
  }
  run_.untuned_seconds = times.untuned;
  run_.tuned_seconds = times.tuned;
  return absl::OkStatus();
}

// The records say then of what is the best, whose code this is, that it takes `ratio` times as long as the
// default.
absl::Status TuningJob::KeepRatio(size_t index, const TaskTuning::Code& code, double ratio, bool is_faster) {
  TaskTuning& task = *tasks_[index];
  Pending pending{.task = index, .candidate = *task.best(), .score = {}, .built = {}};
  pending.built.kernel.code_digest = code.best;
  const double seconds = task.default_seconds() * ratio;
  task.Confirm(pending.candidate, seconds, is_faster, code.best);
  return Keep(pending, TrialOutcome::kOk, {seconds, seconds, seconds, 1}, "", 0, kConfirmation);
}

absl::Status TuningJob::KeepDefault(size_t index, double ratio) {
  while (const std::optional<TaskTuning::Code> code = tasks_[index]->ConfirmedCode())
    RETURN_IF_ERROR(KeepRatio(index, *code, ratio, /*is_faster=*/false));
  return absl::OkStatus();
}

// One task, or at the end the network, its kernels, layouts and itself: whoever drives the job decides
// what comes between them. Whoever has stopped it does not want to wait.
absl::Status TuningJob::Finalize() {
  const bool stopped = is_stopped();
  const bool ends = stopped || !options_.use_defaults;
  while (!ends && finalized_ < tasks_.size()) {
    const size_t task = finalized_++;
    if (tasks_[task]->NextToConfirm().has_value()) return Confirm(task);
  }
  const bool compares = !is_compared_ && tools_.profile_network != nullptr && !Best().empty();
  if (!ends && compares) return CompareInNetwork();
  if (!ends && !IsLate() && tried_classes_ < tools_.block_classes) return TryLayout(tried_classes_++);
  if (!ends) RETURN_IF_ERROR(MeasureNetwork());
  if (const double seconds = NetworkSeconds(); std::isfinite(seconds)) {
    // What was only lucky was never reached.
    for (CurvePoint& point : curve_) point.network_seconds = std::max(point.network_seconds, seconds);
    curve_.push_back({Elapsed(), trials_, seconds});
  }
  run_.state = stopped ? RunState::kInterrupted : RunState::kFinished;
  next_ = std::nullopt;
  return absl::OkStatus();
}

}  // namespace attune

#include "measure/timing.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

constexpr int kEmptyBatches = 17;  // to measure the overhead of a batch
constexpr double kOverheads = 10;  // a batch takes at least this many times its overhead
constexpr int kMostSpoiled = 40;   // the most batches that are too short before timing fails
constexpr int kTurnsToAbandon = 3;
constexpr double kElsewhere = 1.25;       // the largest factor by which other memory may change a time
constexpr int kTurnsForSignificance = 8;  // as many as there are placements in memory
constexpr int64_t kMostExecutions = int64_t{1} << 24;  // per batch

// The candidate or the baseline, with its batches so far.
class Timed {
 public:
  Timed(BatchRunner& runner, const MeasureOptions& options) : runner_(runner), options_(options) {}

  const std::vector<double>& samples() const { return samples_; }
  double spent() const { return spent_; }
  int64_t executions() const { return executions_; }

  // Measures the overhead of a batch, and chooses the number of executions per batch.
  std::optional<Failure> Prepare() {
    std::vector<double> empty(kEmptyBatches);
    for (double& seconds : empty) {
      if (auto failure = Run(0, &seconds)) return failure;
    }
    // Take a low quantile: a batch that is longer is usually much longer, because another program had the
    // processor.
    std::nth_element(empty.begin(), empty.begin() + kEmptyBatches / 4, empty.end());
    overhead_ = empty[kEmptyBatches / 4];
    least_ = std::max(options_.batch_seconds, kOverheads * overhead_);
    // The first execution finds nothing in the caches.
    double seconds = 0;
    if (auto failure = Run(1, &seconds)) return failure;
    for (batch_ = 1; batch_ < kMostExecutions; batch_ *= 2) {
      if (auto failure = Run(batch_, &seconds)) return failure;
      const double work = seconds - overhead_;
      if (work < least_ / 4) continue;
      const double each = work / static_cast<double>(batch_);
      batch_ = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(least_ / each)), 1, kMostExecutions);
      return std::nullopt;
    }
    return Failure{TrialOutcome::kInvalidTiming, absl::StrCat(kMostExecutions, " executions took no time")};
  }

  // Runs one more batch.
  std::optional<Failure> Sample() {
    double seconds = 0;
    if (auto failure = runner_.Move()) return failure;
    // The new memory is not in the caches yet; execute once to warm them, unless they should be cold.
    if (options_.cache != CacheMode::kCold) {
      if (auto failure = Run(1, &seconds)) return failure;
    }
    for (int spoiled = 0; spoiled < kMostSpoiled; ++spoiled) {
      if (auto failure = Run(batch_, &seconds)) return failure;
      if (seconds - overhead_ < least_ / 4 && batch_ < kMostExecutions) {
        batch_ *= 2;  // the executions from which its size was computed were slowed down
        continue;
      }
      if (seconds <= overhead_) continue;
      samples_.push_back((seconds - overhead_) / static_cast<double>(batch_));
      executions_ += batch_;
      return std::nullopt;
    }
    return Failure{TrialOutcome::kInvalidTiming, "batches took no time"};
  }

 private:
  std::optional<Failure> Run(int64_t executions, double* seconds) {
    auto failure = runner_.Run(executions, seconds);
    spent_ += *seconds;
    return failure;
  }

  BatchRunner& runner_;
  const MeasureOptions& options_;
  double overhead_ = 0;  // seconds per batch
  double least_ = 0;     // seconds per batch without overhead, approximately
  int64_t batch_ = 1;
  std::vector<double> samples_;  // seconds per execution
  double spent_ = 0;
  int64_t executions_ = 0;
};

class Turns {
 public:
  Turns(BatchRunner& candidate, BatchRunner* baseline, double baseline_seconds, const MeasureOptions& options)
      : candidate_(candidate, options), baseline_seconds_(baseline_seconds), options_(options) {
    if (baseline != nullptr) baseline_.emplace(*baseline, options);
  }

  std::optional<Failure> Run() {
    if (baseline_ && baseline_->Prepare()) baseline_.reset();
    if (auto failure = candidate_.Prepare()) return failure;
    while (static_cast<int>(candidate_.samples().size()) < options_.max_batches) {
      if (auto failure = Turn()) return failure;
      if (ShouldAbandon()) {
        abandoned_ = true;
        break;
      }
      if (IsNarrow()) break;
      const double spent = candidate_.spent() + (baseline_ ? baseline_->spent() : 0);
      if (spent > kTimingPatience * options_.seconds_limit) break;
      if (spent > options_.seconds_limit && IsEnough()) break;
    }
    return std::nullopt;
  }

  void Report(Measurement* measurement) const {
    const MedianInterval own = OwnInterval();
    measurement->abandoned = abandoned_;
    if (!IsTiming(own) && !abandoned_) {
      measurement->outcome = TrialOutcome::kInvalidTiming;
      measurement->reason =
          absl::StrCat("the batches do not agree: between ", own.low, " and ", own.high, " s");
      return;
    }
    measurement->outcome = TrialOutcome::kOk;
    measurement->timing = {own.median, own.low, own.high, candidate_.executions()};
    if (!baseline_) return;
    const MedianInterval ratio = FindMedian(ratios_, options_.confidence);
    measurement->baseline_seconds = FindMedian(baseline_->samples(), options_.confidence).median;
    measurement->ratio = ratio.median;
    measurement->ratio_low = ratio.low;
    measurement->ratio_high = ratio.high;
    measurement->is_significant = ratio.is_significant;
    measurement->normalized_seconds = baseline_seconds_ * ratio.median;
  }

 private:
  // Runs a batch of each. The order alternates, so that any effect of going second evens out.
  std::optional<Failure> Turn() {
    const bool baseline_first = candidate_.samples().size() % 2 == 0;
    if (baseline_ && baseline_first && baseline_->Sample()) baseline_.reset();
    if (auto failure = candidate_.Sample()) return failure;
    if (baseline_ && !baseline_first && baseline_->Sample()) baseline_.reset();
    if (baseline_) ratios_.push_back(candidate_.samples().back() / baseline_->samples().back());
    return std::nullopt;
  }

  bool ShouldAbandon() const {
    if (options_.abandon_ratio <= 0 || candidate_.samples().size() < kTurnsToAbandon) return false;
    if (baseline_) {
      return *std::min_element(ratios_.begin(), ratios_.end()) > options_.abandon_ratio * options_.best_ratio;
    }
    if (baseline_seconds_ <= 0) return false;
    const std::vector<double>& samples = candidate_.samples();
    return *std::min_element(samples.begin(), samples.end()) >
           options_.abandon_ratio * options_.best_ratio * baseline_seconds_;
  }

  MedianInterval OwnInterval() const { return FindMedian(candidate_.samples(), options_.confidence); }
  bool IsTiming(const MedianInterval& interval) const {
    return interval.precision() <= options_.worst_precision;
  }

  // The interval of the ratio, or of the candidate's times if there is no baseline.
  MedianInterval Interval() const {
    return FindMedian(baseline_ ? ratios_ : candidate_.samples(), options_.confidence);
  }
  bool IsEnough() const {
    return IsTiming(OwnInterval()) && (!options_.until_significant || Interval().is_significant);
  }

  bool IsNarrow() const {
    if (candidate_.samples().size() < kTurnsForSignificance) return false;
    const MedianInterval interval = Interval();
    const bool is_slower =
        baseline_ && interval.low > options_.best_ratio * (1 + options_.precision_of_slower / 2);
    return interval.is_significant &&
           interval.precision() < (is_slower ? options_.precision_of_slower : options_.precision);
  }

  Timed candidate_;
  std::optional<Timed> baseline_;
  double baseline_seconds_;
  const MeasureOptions& options_;
  std::vector<double> ratios_;  // one per turn
  bool abandoned_ = false;
};

}  // namespace

MedianInterval FindMedian(std::span<const double> samples, double confidence) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  MedianInterval interval;
  interval.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
  // The median is below the k-th smallest sample if fewer than k of n fair coins show heads. Find the
  // largest k for which that is unlikely enough. Use logarithms, since 2^-n may be too small for a double.
  size_t k = 0;
  double log_ways = 0, below = 0;  // log of the ways to get k heads, and P(fewer than k + 1 heads)
  while (k <= n / 2) {
    below += std::exp(log_ways - static_cast<double>(n) * std::log(2.0));
    if (below > (1 - confidence) / 2) break;
    log_ways += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
    ++k;
  }
  interval.is_significant = k > 0;
  const size_t place = k > 0 ? k - 1 : 0;
  interval.low = sorted[place];
  interval.high = sorted[n - 1 - place];
  return interval;
}

void TimeInterleaved(BatchRunner& candidate, BatchRunner* baseline, double baseline_seconds,
                     const MeasureOptions& options, Measurement* measurement) {
  Turns turns(candidate, baseline, baseline_seconds, options);
  if (const auto failure = turns.Run()) {
    measurement->outcome = failure->outcome;
    measurement->reason = failure->reason;
    return;
  }
  turns.Report(measurement);
}

std::optional<Measurement> AbandonEarly(BatchRunner& candidate, double baseline_seconds,
                                        const MeasureOptions& options) {
  if (baseline_seconds <= 0 || options.abandon_ratio <= 0) return std::nullopt;
  MeasureOptions roughly = options;
  roughly.max_batches = kTurnsToAbandon;
  roughly.abandon_ratio *= kElsewhere;
  roughly.cache = CacheMode::kCold;  // so that no execution warms the caches between batches
  Measurement measurement;
  TimeInterleaved(candidate, nullptr, baseline_seconds, roughly, &measurement);
  const bool has_failed =
      measurement.outcome != TrialOutcome::kOk && measurement.outcome != TrialOutcome::kInvalidTiming;
  if (!measurement.abandoned && !has_failed) return std::nullopt;
  return measurement;
}

}  // namespace attune

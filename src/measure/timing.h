// How long a kernel takes, on a machine where other things happen.
//
// Problem: the clock of the processor moves, other programs come and go, and one run may take twice as long
// as the next. Idea: time short batches, so that what happens seldom spoils few of them, and take their
// median, which does not mind a few. Its confidence interval is that of order statistics: with n independent
// batches of any distribution, the median lies between the k-th smallest and the k-th largest with a
// probability that follows from the binomial distribution alone (David, Nagaraja: Order statistics, 2003,
// section 7.1). Batches go on until the interval is narrow. Each runs elsewhere in memory: which addresses
// share a set of a cache is decided by the system, and makes a kernel some percent faster or slower. Against
// drift, the baseline is interleaved with the candidate, and what is compared is the ratio within a turn.
#ifndef ATTUNE_MEASURE_TIMING_H_
#define ATTUNE_MEASURE_TIMING_H_

#include <cstdint>
#include <optional>
#include <span>

#include "measure/item.h"
#include "measure/measured_program.h"

namespace attune {

struct MedianInterval {
  double median = 0, low = 0, high = 0;
  // Whether low and high are as certain as was asked for; too few samples give their range instead.
  bool is_significant = false;

  // Half of the interval, relative to the median.
  double precision() const { return median > 0 ? (high - low) / 2 / median : 0; }
};
// Of at least one sample. 0 < confidence < 1.
MedianInterval FindMedian(std::span<const double> samples, double confidence);

// Something that runs in batches.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  // Runs it so often, 0 being allowed, and sets the seconds from the order to the answer.
  virtual std::optional<Failure> Run(int64_t executions, double* seconds) = 0;
  // From now on it runs elsewhere in memory, where it can.
  virtual std::optional<Failure> Move() = 0;
};

// So many times options.seconds_limit batches that do not agree go on.
inline constexpr double kTimingPatience = 8;

// Fills in timing, abandoned, and what is said of the baseline, of a measurement whose outcome becomes ok,
// or kInvalidTiming, or that of the candidate's failure. `baseline` may be null; if it fails, the candidate
// goes on alone. `baseline_seconds`, if not 0, is what it took when it was recorded.
void TimeInterleaved(BatchRunner& candidate, BatchRunner* baseline, double baseline_seconds,
                     const MeasureOptions& options, Measurement* measurement);

// Of a candidate alone that runs where it may be slower or faster than where timings are taken: its
// measurement if it is so slow that this cannot be why, abandoned then, or if it failed. Nothing: it is worth
// timing. What `baseline_seconds` is 0 for cannot be told.
std::optional<Measurement> AbandonEarly(BatchRunner& candidate, double baseline_seconds,
                                        const MeasureOptions& options);

}  // namespace attune

#endif  // ATTUNE_MEASURE_TIMING_H_

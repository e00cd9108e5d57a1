// Measures how long a kernel takes on a machine where other programs run too.
//
// Problem: the processor's clock varies, other programs come and go, and one run may take twice as long as
// the next. Idea: time short batches, so that a rare disturbance spoils only a few, and take their median,
// which a few outliers do not change. The confidence interval comes from order statistics: with n independent
// batches of any distribution, the median lies between the k-th smallest and the k-th largest with a
// probability that follows from the binomial distribution alone (David, Nagaraja: Order statistics, 2003,
// section 7.1). Batches continue until the interval is narrow. Each batch runs elsewhere in memory: the
// system decides which addresses share a set of a cache, and this makes a kernel some percent faster or
// slower. To cancel drift, the baseline is interleaved with the candidate, and the ratio within a turn is
// compared.
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
  // Whether the interval has the requested confidence; with too few samples, it is their range instead.
  bool is_significant = false;

  // Half of the interval, relative to the median.
  double precision() const { return median > 0 ? (high - low) / 2 / median : 0; }
};
// The median of at least one sample. 0 < confidence < 1.
MedianInterval FindMedian(std::span<const double> samples, double confidence);

// Something that runs in batches.
class BatchRunner {
 public:
  virtual ~BatchRunner() = default;
  // Runs `executions` executions (0 is allowed), and sets `seconds` to the time from the command to the
  // answer.
  virtual std::optional<Failure> Run(int64_t executions, double* seconds) = 0;
  // From now on, executions use another part of memory, if possible.
  virtual std::optional<Failure> Move() = 0;
};

// Batches that do not agree continue for up to this many times options.seconds_limit.
inline constexpr double kTimingPatience = 8;

// Sets the timing, `abandoned` and the fields about the baseline of `measurement`. The outcome becomes ok,
// kInvalidTiming, or the outcome of the candidate's failure. `baseline` may be null; if it fails, the
// candidate is timed alone. `baseline_seconds`, if not 0, is the recorded time of the baseline.
void TimeInterleaved(BatchRunner& candidate, BatchRunner* baseline, double baseline_seconds,
                     const MeasureOptions& options, Measurement* measurement);

// Times a candidate alone, in memory where it may be slower or faster than where timings are taken. Returns
// its measurement if it fails, or if it is so slow that memory cannot be the reason; then it is abandoned.
// Returns nothing if it is worth timing, or if `baseline_seconds` is 0.
std::optional<Measurement> AbandonEarly(BatchRunner& candidate, double baseline_seconds,
                                        const MeasureOptions& options);

}  // namespace attune

#endif  // ATTUNE_MEASURE_TIMING_H_

// Measurements: the items that can be requested, their options, and the result.
#ifndef ATTUNE_MEASURE_ITEM_H_
#define ATTUNE_MEASURE_ITEM_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/peaks.h"
#include "measure/outcome.h"

namespace attune {

struct MeasureOptions {
  CacheMode cache = CacheMode::kNetwork;
  int threads = 1;  // 1 to 1024; parallel phases are split over them

  // Executions are timed in batches of about this duration and at least one execution. Batches continue until
  // the confidence interval of their median is narrow: half of its width is less than `precision` of the
  // median.
  double batch_seconds = 1e-3;
  double precision = 0.01;
  // The precision that is enough for a candidate that is significantly slower, by half of this value, than
  // the time to beat.
  double precision_of_slower = 0.04;
  double confidence = 0.95;
  // Timing ends after this many batches, or this long, with whatever interval it has. An interval wider than
  // `worst_precision` of the median is not a timing: if other programs use the processor, batches continue
  // for some times the limit, and if the interval is still too wide, the outcome is kInvalidTiming. A profile
  // takes as long as the limit, and at least some turns.
  int max_batches = 500;
  double seconds_limit = 0.5;
  double worst_precision = 0.5;
  // Whether batches also continue beyond the limit until there are enough of them for an interval of that
  // confidence.
  bool until_significant = false;

  // The time that a candidate has to beat, relative to the baseline's time.
  double best_ratio = 1;
  // A candidate is abandoned if each of its batches so far, at least three, is slower than the time to beat
  // by this factor. 0: never.
  double abandon_ratio = 1.3;

  // A single execution that takes longer is stopped (kTimedOut).
  double execution_seconds_limit = 10;
  // The limit for all memory of the kernel and its constants, of which there are one or two copies.
  int64_t memory_bytes_limit = int64_t{8} << 30;
  // Except with CacheMode::kWarm, each execution uses another copy of all buffers, or of only the constants
  // (kNetwork). The copies together have this size, so that a copy has left the caches when its turn comes
  // again.
  int64_t cold_bytes = int64_t{128} << 20;
};

// One thing to do on a device. Large data is in blobs, which the service must have received before; the
// item names them by their digests.
struct MeasureItem {
  enum class Kind : uint8_t {
    kCheckKernel,     // checks the results of a kernel; may share the device
    kTimeKernel,      // times a kernel that was checked, interleaved with the baseline
    kTimeNetwork,     // does the same for a network
    kProfileNetwork,  // does the same for the kernels of a network
    // Runs a network, for the limit of seconds and at least three times, but at most as often as there may be
    // batches, and returns the outputs of its last run.
    kRunNetwork,
    kMeasurePeaks,  // measures the peak rates of the device with this many threads
  };
  Kind kind = Kind::kCheckKernel;
  MeasureOptions options = {};
  std::string subject = {};  // the kernel (codec.h), or the network's artifact
  // The data to measure it with: for a kernel, the file of reference_data.h; for a network, the bytes of
  // its inputs, one after the other.
  std::string data = {};
  // The kernel or artifact that it is interleaved with; empty: none. For kernels, all candidates of a task
  // use the same baseline: if it were the best so far, a kernel whose measured time was too good would
  // become the baseline, and its error would be part of all later times.
  std::string baseline = {};
  // The recorded time of the baseline; 0: the time that the same batch measured for the baseline before, if
  // it did. Likewise, the time to beat is at most the best that the batch has found with this baseline.
  double baseline_seconds = 0;
  std::vector<int> processors = {};  // processors of the device that it may run on; empty: any

  // Whether nothing else may run on the device meanwhile.
  bool is_exclusive() const { return kind != Kind::kCheckKernel; }
};

// For each kernel of a network, by the digest of its code: the seconds of all its calls in one inference,
// one value per turn. Instructions that call no kernel, such as copies, have the empty digest.
using KernelTurns = std::map<std::string, std::vector<double>>;

// An output of a network, in the model's order.
struct OutputValue {
  std::vector<int64_t> shape = {};
  std::string bytes = {};  // row-major, of the dtype that the artifact names

  bool operator==(const OutputValue&) const = default;
};

struct Measurement {
  // kRetry: the measurement itself failed, which says nothing about the subject.
  TrialOutcome outcome = TrialOutcome::kRetry;
  std::string reason;  // empty if the outcome is ok
  double seconds = 0;  // duration of the whole measurement

  // Set if a kernel or network was timed. If it was abandoned, this comes from the few batches made so far,
  // maybe with warm caches.
  Timing timing;
  bool abandoned = false;

  // Set if there was a baseline. Both ran interleaved, so that changes over time, such as the processor's
  // clock, affect both alike. 0 if there was no baseline, or if it failed.
  double baseline_seconds = 0;                      // its median in this measurement
  double ratio = 0, ratio_low = 0, ratio_high = 0;  // subject to baseline, median over the turns
  bool is_significant = false;                      // has the confidence; if false, the range of the turns
  // The subject's time as if measured when the baseline was recorded: the baseline's recorded time times
  // the ratio.
  double normalized_seconds = 0;

  KernelTurns profile, baseline_profile;  // for kProfileNetwork
  Peaks peaks;                            // for kMeasurePeaks
  // For kRunNetwork: of each run after the first, which warms up.
  std::vector<double> run_seconds;
  std::vector<OutputValue> outputs;

  // How long the threads that measured waited for processors that other programs had, as a share of
  // `seconds`; 0 too where that is not known. From kDisturbedShare (device/contention.h) on, its times are
  // too long.
  double waited_share = 0;

  // The subject's time, comparable with other times that have the same baseline.
  double comparable_seconds() const { return normalized_seconds > 0 ? normalized_seconds : timing.seconds; }
};

// The measurement that has failed with this outcome.
inline Measurement FailedMeasurement(TrialOutcome outcome, std::string reason) {
  Measurement measurement;
  measurement.outcome = outcome;
  measurement.reason = std::move(reason);
  return measurement;
}

}  // namespace attune

#endif  // ATTUNE_MEASURE_ITEM_H_

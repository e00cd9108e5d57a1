// What can be measured, how, and what comes out.
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
  int threads = 1;  // 1 to 1024: what parallel phases are split over

  // Repetitions come in batches that take about so long, at least one execution. They go on until the
  // confidence interval of the median of the batches is narrow, half of it less than `precision` of the
  // median.
  double batch_seconds = 1e-3;
  double precision = 0.01;
  // Of a candidate that is significantly slower than what it has to beat by half of that, this will do.
  double precision_of_slower = 0.04;
  double confidence = 0.95;
  // Timing ends after this many batches, or this long, with whatever interval it has. One wider than
  // `worst_precision` of the median is no timing: where other programs have the processor, it goes on for
  // some times the limit to get a better one, and if there is none, the outcome is kInvalidTiming. A profile
  // takes as long as the limit, and at least some turns.
  int max_batches = 500;
  double seconds_limit = 0.5;
  double worst_precision = 0.5;
  // Whether it goes on so, too, until there are enough batches for an interval of that confidence.
  bool until_significant = false;

  // The time of what a candidate has to beat, in relation to the baseline's.
  double best_ratio = 1;
  // A candidate whose every batch so far, at least three, is worse than that by this factor is abandoned. 0:
  // never.
  double abandon_ratio = 1.3;

  // A single execution that takes longer is stopped (kTimedOut).
  double execution_seconds_limit = 10;
  // All memory of the kernel and of its constants, which exist as a copy or two.
  int64_t memory_bytes_limit = int64_t{8} << 30;
  // But for CacheMode::kWarm: each execution works in another copy of the buffers, or of the constants among
  // them alone (kNetwork), so many bytes in all, so that its own has left the caches when its turn comes
  // again.
  int64_t cold_bytes = int64_t{128} << 20;
};

// One thing to do on a device. Whatever is large is a blob, which the service has been given before, and
// named here by its digest.
struct MeasureItem {
  enum class Kind : uint8_t {
    kCheckKernel,     // whether the kernel's results are right: needs no device for itself
    kTimeKernel,      // how long one that was checked takes, interleaved with the baseline
    kTimeNetwork,     // the same of a network
    kProfileNetwork,  // the same of a network's kernels
    kMeasurePeaks,    // what the device does at best on so many threads
  };
  Kind kind = Kind::kCheckKernel;
  MeasureOptions options = {};
  std::string subject = {};  // the kernel (codec.h), or the network's artifact
  // What it is measured with: the file of reference_data.h for a kernel; for a network, the bytes of its
  // inputs, one after the other.
  std::string data = {};
  // The kernel or artifact that it is interleaved with; empty: none. If it is a kernel, it is always the same
  // for a task: if it were the best so far, one whose time was too good would become it, and its
  // error a part of all times that follow.
  std::string baseline = {};
  // What the baseline took when it was recorded; 0: what the same batch has measured of it before, by itself,
  // if it has. Likewise, what has to be beaten is at most what the batch has found with that baseline.
  double baseline_seconds = 0;
  std::vector<int> processors = {};  // of the device, that it may run on; empty: any

  // Whether nothing else may run on the device meanwhile.
  bool is_exclusive() const { return kind != Kind::kCheckKernel; }
};

// Of a network's kernels: the seconds of all calls in one inference, one for each turn, by the digest of
// their code.
using KernelTurns = std::map<std::string, std::vector<double>>;

struct Measurement {
  // kRetry: measuring itself did not work, which says nothing of the subject.
  TrialOutcome outcome = TrialOutcome::kRetry;
  std::string reason;  // empty where the outcome is ok
  double seconds = 0;  // that all of it took

  // Of a kernel or network that was timed. Of one that was abandoned, the few batches that there are, maybe
  // in warm caches.
  Timing timing;
  bool abandoned = false;

  // Where there was a baseline: both ran interleaved, so that what changes with time, the clock of the
  // processor say, concerns both alike. 0 where there was none, or it failed.
  double baseline_seconds = 0;                      // its median now
  double ratio = 0, ratio_low = 0, ratio_high = 0;  // subject to baseline, median over the turns
  bool is_significant = false;  // whether there were enough turns for an interval; else it is their range
  // The subject's time had it been measured when the baseline was recorded: that time by the ratio.
  double normalized_seconds = 0;

  KernelTurns profile, baseline_profile;  // kProfileNetwork's
  Peaks peaks;                            // kMeasurePeaks'

  // The subject's time, to be compared with others that have the same baseline.
  double comparable_seconds() const { return normalized_seconds > 0 ? normalized_seconds : timing.seconds; }
};

// One that came to nothing.
inline Measurement FailedMeasurement(TrialOutcome outcome, std::string reason) {
  Measurement measurement;
  measurement.outcome = outcome;
  measurement.reason = std::move(reason);
  return measurement;
}

}  // namespace attune

#endif  // ATTUNE_MEASURE_ITEM_H_

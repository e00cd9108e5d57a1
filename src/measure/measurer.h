// Measuring candidates: the interface, its options and what comes out.
#ifndef ATTUNE_MEASURE_MEASURER_H_
#define ATTUNE_MEASURE_MEASURER_H_

#include <cstdint>
#include <string>

#include "tune/records/record.h"
#include "tune/task/builder.h"
#include "tune/task/task.h"

namespace attune {

struct MeasureOptions {
  CacheMode cache = CacheMode::kNetwork;
  int threads = 1;  // 1 to 1024: what parallel phases are split over

  // Repetitions come in batches that take about so long, at least one execution. They go on until the
  // confidence interval of the median of the batches is narrow, half of it less than `precision` of the
  // median.
  double batch_seconds = 1e-3;
  double precision = 0.01;
  // Of a candidate that is surely slower than what it has to beat by half of that, this will do.
  double precision_of_slower = 0.04;
  double confidence = 0.95;
  // Timing ends after this many batches, or this long, with whatever interval it has. One wider than
  // `worst_precision` of the median is no timing: where other programs have the processor, it goes on for
  // some times the limit to get a better one, and if there is none, the outcome is kInvalidTiming.
  int max_batches = 500;
  double seconds_limit = 0.5;
  double worst_precision = 0.5;
  // Whether it goes on so, too, until there are enough batches for an interval of that confidence.
  bool until_sure = false;

  // The time of what a candidate has to beat, in relation to the incumbent's.
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
  // again. More than twice the last-level cache of this machine is that; 0 too.
  int64_t cold_bytes = 0;
};

// What a candidate is compared with in turns: always the same for a task. If it were the best so far, a
// candidate that was lucky would become it, and its luck a part of all times that follow.
struct Incumbent {
  const BuiltKernel* kernel = nullptr;  // null: its time alone is known, and drift is not
  double seconds = 0;                   // when it was recorded, > 0
};

struct Measurement {
  // kRetry: measuring itself did not work, which says nothing of the candidate.
  TrialOutcome outcome = TrialOutcome::kRetry;
  std::string reason;  // empty where the outcome is ok
  // Of this candidate, where the outcome is ok. Of one that was abandoned, the few batches that there are,
  // maybe in warm caches.
  Timing timing;
  bool abandoned = false;
  double seconds = 0;  // that all of it took

  // Where there was an incumbent with its kernel: both ran in turns, so that what changes with time, the
  // clock of the processor say, concerns both alike. 0 where there was none, or it failed.
  double incumbent_seconds = 0;                     // its median now
  double ratio = 0, ratio_low = 0, ratio_high = 0;  // candidate to incumbent, median over the turns
  bool is_ratio_sure = false;  // whether there were enough turns for an interval; else it is their range
  // The candidate's time had it been measured when the incumbent was recorded: incumbent.seconds * ratio.
  double normalized_seconds = 0;
};

// Thread safe; calls wait for one another.
class Measurer {
 public:
  virtual ~Measurer() = default;

  // Checks the kernel against the reference, then times it. `kernel` and the incumbent's were built for
  // `task`. `incumbent`, which may be null, has passed the check in an earlier call; it is what abandoning
  // compares to.
  virtual Measurement Measure(const TuningTask& task, const BuiltKernel& kernel,
                              const MeasureOptions& options, const Incumbent* incumbent) = 0;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURER_H_

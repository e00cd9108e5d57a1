// A lower bound for the time of any kernel of a task.
#ifndef ATTUNE_TUNE_JOB_LOWER_BOUND_H_
#define ATTUNE_TUNE_JOB_LOWER_BOUND_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/peaks.h"
#include "device/roofline.h"
#include "target/target.h"
#include "tune/task/task.h"

namespace attune {

// The least work of one execution by the strategy that needs the fewest operations, whatever the data are
// (graph/demand.h).
absl::StatusOr<Work> LeastWork(const TuningTask& task, const Target& target);

// A time that is shorter than BoundOf() the least work by this factor is a mistake or a lie. Peaks that were
// measured beside other programs may be too low, so that a bound does not always hold.
inline constexpr double kFasterThanPossible = 8;

// Ok if a processor of the target can have these peaks. They come from the device, which may be another's.
absl::Status CheckPeaks(const Peaks& peaks, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LOWER_BOUND_H_

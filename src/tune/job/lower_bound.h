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

// One execution by the strategy that needs the fewest operations.
absl::StatusOr<Work> LeastWork(const TuningTask& task, const Target& target);

// The seconds by the roofline of LeastWork() on `threads` threads of a device with these peaks.
absl::StatusOr<double> LowerBoundSeconds(const TuningTask& task, const Target& target, const Peaks& peaks,
                                         int threads);

// A time that is shorter than the lower bound by this factor is a mistake or a lie. The bound itself does not
// always hold: data in L1 is read several times as fast as from L2, which it assumes.
inline constexpr double kFasterThanPossible = 8;

// Ok if a processor of the target can have these peaks. They come from the device, which may be another's.
absl::Status CheckPeaks(const Peaks& peaks, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LOWER_BOUND_H_

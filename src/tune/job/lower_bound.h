// A lower bound for the time of any kernel of a task.
#ifndef ATTUNE_TUNE_JOB_LOWER_BOUND_H_
#define ATTUNE_TUNE_JOB_LOWER_BOUND_H_

#include "absl/status/statusor.h"
#include "device/peaks.h"
#include "target/target.h"
#include "tune/task/task.h"

namespace attune {

// The seconds by the roofline of one execution on `threads` threads of a device with these peaks, for the
// strategy that needs the fewest operations.
absl::StatusOr<double> LowerBoundSeconds(const TuningTask& task, const Target& target, const Peaks& peaks,
                                         int threads);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LOWER_BOUND_H_

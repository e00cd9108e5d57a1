// What kernels of a task are checked and timed with, made by the reference interpreter.
#ifndef ATTUNE_TUNE_TASK_REFERENCE_DATA_H_
#define ATTUNE_TUNE_TASK_REFERENCE_DATA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "measure/blob.h"
#include "tune/task/task.h"

namespace attune {

// The bytes of all inputs and outputs of a task, which its reference data hold a few times over.
int64_t TaskBytes(const TuningTask& task);

// Random inputs, the same for equal tasks, and the reference's results, as ReferenceData reads them
// (measure/reference_data.h). Uses all cores, for as long as the reference takes. Errors: the reference
// cannot evaluate the task on any of a few kinds of inputs; ResourceExhausted where there is no memory.
absl::StatusOr<Blob> MakeReferenceData(const TuningTask& task);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_REFERENCE_DATA_H_

// Makes the data that kernels of a task are checked and timed with, by the reference interpreter.
#ifndef ATTUNE_TUNE_TASK_REFERENCE_DATA_H_
#define ATTUNE_TUNE_TASK_REFERENCE_DATA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "measure/blob.h"
#include "tune/task/task.h"

namespace attune {

// The size of all inputs and outputs of a task in bytes; its reference data take a few times as much.
int64_t TaskBytes(const TuningTask& task);

// Random inputs, the same for equal tasks, and the reference's results, in the format of ReferenceData
// (measure/reference_data.h). Uses all cores while the reference runs. Errors: the reference cannot
// evaluate the task for any of a few kinds of inputs; ResourceExhausted if there is not enough memory.
absl::StatusOr<Blob> MakeReferenceData(const TuningTask& task);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_REFERENCE_DATA_H_

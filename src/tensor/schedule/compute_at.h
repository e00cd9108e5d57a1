// Computes a stage inside a loop of a stage that reads it.
#ifndef ATTUNE_TENSOR_SCHEDULE_COMPUTE_AT_H_
#define ATTUNE_TENSOR_SCHEDULE_COMPUTE_AT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// ComputeAt, or ComputeWithin if `within`. `space` is the number of a MemorySpace, which may be invalid if
// it comes from a trace. Returns an error, and leaves the tree as it was, where it does not apply.
absl::Status ComputeStageAt(LoopTree& tree, ScheduledStage& computed, LoopRef at, int64_t space, bool within);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_COMPUTE_AT_H_

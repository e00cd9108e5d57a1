// Computes a stage at the end of the iterations that compute what it reads.
#ifndef ATTUNE_TENSOR_SCHEDULE_COMPUTE_AFTER_H_
#define ATTUNE_TENSOR_SCHEDULE_COMPUTE_AFTER_H_

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// ComputeAfter. Returns an error, and leaves the tree as it was, where it does not apply.
absl::Status ComputeStageAfter(LoopTree& tree, ScheduledStage& computed, LoopRef at);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_COMPUTE_AFTER_H_

// The tail strategy round up: drops guards on elements that are not read.
#ifndef ATTUNE_TENSOR_SCHEDULE_OVERCOMPUTE_H_
#define ATTUNE_TENSOR_SCHEDULE_OVERCOMPUTE_H_

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// Overcompute. Returns an error, and leaves the tree as it was, where it does not apply.
absl::Status OvercomputeStage(LoopTree& tree, ScheduledStage& state);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_OVERCOMPUTE_H_

// Applies a trace's primitives to loop trees: the one place that looks up its stages and loops by name.
#ifndef ATTUNE_TENSOR_SCHEDULE_PRIMITIVES_H_
#define ATTUNE_TENSOR_SCHEDULE_PRIMITIVES_H_

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"
#include "tensor/schedule/trace.h"

namespace attune {

// Returns an error, and leaves the tree as it was, if there is no such primitive, stage or loop, or if the
// primitive does not apply.
absl::Status ApplyPrimitive(LoopTree& tree, const Primitive& primitive);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_PRIMITIVES_H_

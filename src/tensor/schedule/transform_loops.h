// Primitives that transform loops; tensor/schedule.h documents them. Each returns an error, and leaves the
// tree as it was, where it does not apply.
#ifndef ATTUNE_TENSOR_SCHEDULE_TRANSFORM_LOOPS_H_
#define ATTUNE_TENSOR_SCHEDULE_TRANSFORM_LOOPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// Split, or SplitOverlapping.
absl::Status SplitLoop(LoopTree& tree, LoopRef split, int64_t factor, bool overlapping);
// `name`: the name of the resulting loop.
absl::Status FuseLoops(LoopTree& tree, LoopRef outer, LoopRef inner, const std::string& name);
absl::Status ReorderLoops(const LoopTree& tree, const std::vector<LoopRef>& loops);
// Unroll, Vectorize, Parallel, Dot, Matrix and, with a binding, Bind.
absl::Status MarkLoop(LoopRef marked, LoopKind kind, const std::string& binding);
absl::Status PeelLoop(LoopRef peeled, int64_t front, int64_t back);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_TRANSFORM_LOOPS_H_

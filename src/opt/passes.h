// The passes, each in the file of its name. All of them take and leave a verified graph that computes
// the same function of its inputs (to rounding, where that is said), and read only the graph that they
// are given, not its regions. What each one needs and leaves beyond that is said at its declaration.
#ifndef ATTUNE_OPT_PASSES_H_
#define ATTUNE_OPT_PASSES_H_

#include "opt/pass.h"

namespace attune {

// After: every node reaches an output of the graph.
absl::StatusOr<bool> DeadCodePass(Graph& graph, const PassContext& context);

// After: no node has constant inputs alone, except where its result is larger than `max_bytes`, is more
// than `max_growth_bytes` larger than its inputs (a broadcast costs less as code than as memory), takes
// more than `max_macs` multiply-adds, has dynamic dimensions, or cannot be evaluated.
absl::StatusOr<bool> FoldConstantsPass(Graph& graph, const PassContext& context);

// Before: no fused nodes. After: every node other than constants, if, loop and fused is in
// the region of exactly one fused node (fusion_groups.h says which nodes share one), which has the name
// of the group's anchor. Its inputs are the values that the group takes from outside, constants among
// them, except constants of one element, which are inside. Its outputs are the values used outside.
absl::StatusOr<bool> FusePass(Graph& graph, const PassContext& context);

}  // namespace attune

#endif  // ATTUNE_OPT_PASSES_H_

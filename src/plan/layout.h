// Layouts over the whole graph.
#ifndef ATTUNE_PLAN_LAYOUT_H_
#define ATTUNE_PLAN_LAYOUT_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "plan/blocks.h"
#include "plan/chooser.h"
#include "plan/costs.h"
#include "target/target.h"

namespace attune {

// Assigns every value of `graph`, a graph of fused groups, its layout: four-dimensional feature maps around
// convolutions keep their channels in blocks of one vector of `target` (NCHW16c with AVX-512) or of half a
// vector, as ChooseBlocks says; everything else is plain. Every lowering reads any layout, so
// layout_transform groups are inserted only where a blocked value leaves the graph, enters a branch or a
// loop, or is packed by its kernel as the weights of a contraction are, and where an operator is much
// faster on its image in the other layout. Inputs and outputs of graphs, those of regions included, stay
// plain. Returns the number of classes of feature maps that `overrides` may name, without those of regions.
absl::StatusOr<int> AssignLayouts(Graph& graph, const Target& target, const LayoutOverrides& overrides = {},
                                  const KernelCosts& costs = AnalyticChooser());

// Layouts within a fused group, whose inputs have theirs; outputs of convolutions are in blocks of `block`.
void AssignInGroup(Graph& region, int64_t block);

}  // namespace attune

#endif  // ATTUNE_PLAN_LAYOUT_H_

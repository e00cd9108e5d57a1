// Which groups a network has, and how their values lie in memory.
#ifndef ATTUNE_PLAN_ARRANGE_H_
#define ATTUNE_PLAN_ARRANGE_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "plan/blocks.h"
#include "plan/chooser.h"
#include "plan/costs.h"
#include "target/target.h"

namespace attune {

// Assigns layouts to the values of `graph`, a graph of fused groups: the predicted ones except for
// `overrides`. Merges groups where one kernel is cheaper. Only each group's kernel is then left to choose.
// Returns the number of classes of feature maps that overrides may name.
absl::StatusOr<int> ArrangeGroups(Graph& graph, const Target& target, const LayoutOverrides& overrides = {},
                                  const KernelCosts& costs = AnalyticChooser());

// The classes of feature maps of `graph`, a graph of fused groups, that get another layout than the one
// predicted to be best. Tries one class after the other, and keeps its other layout if the kernels that it
// changes take less time, where `costs` has measured all of them. Otherwise the class keeps the predicted
// layout.
absl::StatusOr<LayoutOverrides> ChooseLayoutOverrides(const Graph& graph, const Target& target,
                                                      const KernelCosts& costs);

}  // namespace attune

#endif  // ATTUNE_PLAN_ARRANGE_H_

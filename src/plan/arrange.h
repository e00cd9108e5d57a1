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

// Gives the values of `graph`, a graph of fused groups, their layouts, which are the predicted ones but for
// `overrides`, and merges groups where one kernel is cheaper. What is left is to choose each group's kernel.
// Gives the number of classes of feature maps that overrides may name.
absl::StatusOr<int> ArrangeGroups(Graph& graph, const Target& target, const LayoutOverrides& overrides = {},
                                  const KernelCosts& costs = AnalyticChooser());

// The classes of `graph`, a graph of fused groups, that are to have the other layout than is predicted to be
// best: one after the other, each if the kernels that there are then instead take less time, as `costs` knows
// all of them by measurement. Where it does not, what is predicted stays.
absl::StatusOr<LayoutOverrides> ChooseLayoutOverrides(const Graph& graph, const Target& target,
                                                      const KernelCosts& costs);

}  // namespace attune

#endif  // ATTUNE_PLAN_ARRANGE_H_

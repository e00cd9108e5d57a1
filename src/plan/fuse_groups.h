// Groups that become one kernel.
#ifndef ATTUNE_PLAN_FUSE_GROUPS_H_
#define ATTUNE_PLAN_FUSE_GROUPS_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "plan/chooser.h"
#include "plan/costs.h"
#include "target/target.h"

namespace attune {

// Takes groups whose layouts are assigned. Merges two of them, of which the second uses the result of the
// first, where a strategy computes both in one kernel (Strategy::fusions) and is predicted to save time by
// it.
absl::Status FuseGroups(Graph& graph, const Target& target, const KernelCosts& costs = AnalyticChooser());

}  // namespace attune

#endif  // ATTUNE_PLAN_FUSE_GROUPS_H_

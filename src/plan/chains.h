// Groups that become one kernel because a large map between them then stays in the cache.
#ifndef ATTUNE_PLAN_CHAINS_H_
#define ATTUNE_PLAN_CHAINS_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "target/target.h"

namespace attune {

// Merges fused groups of convolutions and pools, whose layouts are assigned, with the group that alone uses
// their result, where PredictChainSavings() says that it pays.
absl::Status FormChains(Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_PLAN_CHAINS_H_

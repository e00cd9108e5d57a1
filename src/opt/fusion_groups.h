// Which nodes are computed together as one kernel.
#ifndef ATTUNE_OPT_FUSION_GROUPS_H_
#define ATTUNE_OPT_FUSION_GROUPS_H_

#include <vector>

#include "graph/graph.h"

namespace attune {

struct FusionGroup {
  // The node that decides how the group is computed: the contraction, reduction, …, or, in a group of
  // pointwise nodes alone, the last one.
  Node* anchor = nullptr;
  std::vector<Node*> nodes;  // in graph order
};

struct FusionOptions {
  bool epilogues = true;
  bool prologues = true;
  int max_nodes = 64;
  int max_inputs = 16;
};

// Whether pointwise nodes may follow `node` in its kernel, and whether they may precede it. The latter is
// for operators that read each input element about once: elsewhere the producers would be computed again
// for every read.
bool TakesEpilogue(const Node& node);
bool TakesPrologue(const Node& node);

// A partition of the nodes that are no constant, if, loop or fused, in the order of the groups' last nodes.
// Replacing each group by one node leaves the graph acyclic.
std::vector<FusionGroup> PartitionForFusion(const Graph& graph, const FusionOptions& options);

}  // namespace attune

#endif  // ATTUNE_OPT_FUSION_GROUPS_H_

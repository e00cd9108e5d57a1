// Walks the graphs of one network at several sizes in step.
#ifndef ATTUNE_SIZES_SAME_GRAPHS_H_
#define ATTUNE_SIZES_SAME_GRAPHS_H_

#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// A node, and the same node in each of the other graphs.
using SameNodes = std::vector<Node*>;

// The graphs, or regions, that own the nodes.
using SameOwners = std::vector<Graph*>;

// Calls `visit` for each node in order, those of regions after the node that owns them, and constants before
// the first node that uses them alike, perhaps several times. Graphs may differ in sizes: in integer
// attributes, in dimensions, and in the values of constants. Fails with NotSupported, naming the node, where
// they differ in something else. Meanwhile `visit` must not add or remove nodes.
absl::Status ForEachSameNode(std::span<Graph* const> graphs,
                             absl::FunctionRef<absl::Status(const SameNodes&, const SameOwners&)> visit);

}  // namespace attune

#endif  // ATTUNE_SIZES_SAME_GRAPHS_H_

// The rules of the Graph IR that hold between passes.
#ifndef ATTUNE_GRAPH_VERIFY_H_
#define ATTUNE_GRAPH_VERIFY_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// Ok, or the first broken rule, with the node at fault: operand counts, attributes (known, of their
// kind, required ones present), values made before their use, uses recorded on both sides, unique value
// names, types equal to what inference gives, regions valid by themselves.
absl::Status Verify(const Graph& graph);

}  // namespace attune

#endif  // ATTUNE_GRAPH_VERIFY_H_

// The rules of the Graph IR that hold between passes.
#ifndef ATTUNE_GRAPH_VERIFY_H_
#define ATTUNE_GRAPH_VERIFY_H_

#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// How deep regions may nest: a bound for code that recurses into them.
inline constexpr int kMaxRegionDepth = 64;

// Ok, or the first broken rule, with the node at fault: operand counts, attributes (known, of their
// kind, required ones present), values made before their use, uses recorded on both sides, unique names of
// values and of outputs (empty ones aside), valid types, equal to what inference gives (node_rules.h), one
// bound for each symbol, regions valid by themselves and not nested too deep.
absl::Status Verify(const Graph& graph);

}  // namespace attune

#endif  // ATTUNE_GRAPH_VERIFY_H_

// The rules that the operator table sets for a single node, whatever its inputs' types are.
#ifndef ATTUNE_GRAPH_NODE_RULES_H_
#define ATTUNE_GRAPH_NODE_RULES_H_

#include <string_view>

#include "absl/status/status.h"
#include "graph/graph.h"

namespace attune {

// Ok, or the first broken rule: the count of inputs, required ones that are absent, the count of
// regions and outputs, attributes that are unknown, of another kind, or missing. Inference (infer.h) may
// rely on these. Messages name neither operator nor node.
absl::Status CheckNode(const Node& node);

// Ok, or how an output's type differs from what inference gives. A layout may differ where the operator
// leaves it to planning: where inference gives a plain one and the operator is not elementwise.
absl::Status CheckOutputTypes(const Node& node);

// Elementwise, and quantization whose scale does not change within a block: output element i needs element i
// of each input, broadcast.
bool IsPointwise(const Node& node);

// How many of a node's first inputs the elements of its output are taken from, where it can just as well
// move the integers that stand for them; 0: it computes.
int NumMovedInputs(const Node& node);

// Whether the node is an integer product with a zero point, which its definition subtracts from each
// element.
bool HasZeroPoints(const Node& node);

}  // namespace attune

#endif  // ATTUNE_GRAPH_NODE_RULES_H_

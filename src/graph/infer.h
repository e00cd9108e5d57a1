// Type and shape inference of the canonical operators.
#ifndef ATTUNE_GRAPH_INFER_H_
#define ATTUNE_GRAPH_INFER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

// The output types of `node` from its inputs' types, attributes and regions; it has an input for each
// required one of the operator table. All arithmetic is checked: a shape that overflows, or a tensor of
// over 2^40 bytes, is an error. Messages name the operator and what does not fit, not the node.
absl::StatusOr<std::vector<TensorType>> InferTypes(const Node& node);

// The shape that NumPy's broadcasting gives, or an error that names both shapes.
absl::StatusOr<std::vector<Dim>> BroadcastDims(const std::vector<Dim>& a, const std::vector<Dim>& b);

}  // namespace attune

#endif  // ATTUNE_GRAPH_INFER_H_

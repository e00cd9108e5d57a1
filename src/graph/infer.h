// Type and shape inference of the canonical operators.
#ifndef ATTUNE_GRAPH_INFER_H_
#define ATTUNE_GRAPH_INFER_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

// A placeholder for the symbol of a data-dependent size, given to an operator of category kDynamic whose
// outputs have no type yet; Graph::Add renames it. Outputs that have a type keep its symbol, so that
// inferring again gives the same. A symbol means the same size in a graph and in its regions: code that
// moves such a node into a region must carry its outputs' types over.
inline constexpr std::string_view kNewSymbol = "?";

// The output types of `node` from its inputs' types, attributes and regions; it has an input for each
// required one of the operator table. All arithmetic is checked: a shape that overflows, or a tensor of
// over 2^40 bytes, is an error, and so is an input whose type is not valid. Messages name the operator and
// what does not fit, not the node.
absl::StatusOr<std::vector<TensorType>> InferTypes(const Node& node);

// Ok for a type that a value may have: at most 64 dimensions, none negative, at most 2^40 bytes in memory
// (a dynamic dimension counts as its bound, one of 0 as 1), a blocked axis that exists.
absl::Status CheckType(const TensorType& type);

// The shape that NumPy's broadcasting gives, or an error that names both shapes.
absl::StatusOr<std::vector<Dim>> BroadcastDims(const std::vector<Dim>& a, const std::vector<Dim>& b);

}  // namespace attune

#endif  // ATTUNE_GRAPH_INFER_H_

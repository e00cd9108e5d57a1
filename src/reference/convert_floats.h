// Converts a computation to another float type, to show how much of a difference comes from rounding.
#ifndef ATTUNE_REFERENCE_CONVERT_FLOATS_H_
#define ATTUNE_REFERENCE_CONVERT_FLOATS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

// `tensor`, converted to `to` if it has floats. Fails if memory runs out.
absl::StatusOr<Tensor> ConvertFloats(const Tensor& tensor, DType to);

// A graph that computes the same as `graph` with `to` in place of every float type. Quantized values keep
// their steps. Fails if there is no memory for the constants.
absl::StatusOr<std::unique_ptr<Graph>> ConvertFloats(const Graph& graph, DType to);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_CONVERT_FLOATS_H_

// The same computation in another float type: what shows how much of a difference is rounding.
#ifndef ATTUNE_REFERENCE_CONVERT_FLOATS_H_
#define ATTUNE_REFERENCE_CONVERT_FLOATS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

// `tensor` itself, or of `to` if it is of floats. An error where there is no memory for it.
absl::StatusOr<Tensor> ConvertFloats(const Tensor& tensor, DType to);

// A graph that computes what `graph` does with `to` in the place of every float type. Quantized values keep
// their steps. An error where there is no memory for the constants.
absl::StatusOr<std::unique_ptr<Graph>> ConvertFloats(const Graph& graph, DType to);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_CONVERT_FLOATS_H_

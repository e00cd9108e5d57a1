// The same computation without the rounding of each operator's result: what shows how much of a difference
// is rounding.
#ifndef ATTUNE_REFERENCE_WIDEN_H_
#define ATTUNE_REFERENCE_WIDEN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

// `tensor` itself, or in f64 if it is of floats. An error where there is no memory for it.
absl::StatusOr<Tensor> WidenFloats(const Tensor& tensor);

// A graph that computes what `graph` does with f64 in the place of every float type. Quantized values keep
// their steps. An error where there is no memory for the constants.
absl::StatusOr<std::unique_ptr<Graph>> WidenFloats(const Graph& graph);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_WIDEN_H_

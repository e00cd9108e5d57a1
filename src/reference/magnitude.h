// The sums of absolute products that bound a contraction's rounding error (interpreter.h).
#ifndef ATTUNE_REFERENCE_MAGNITUDE_H_
#define ATTUNE_REFERENCE_MAGNITUDE_H_

#include <span>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::reference {

// Each returns an f64 tensor with the shape of the node's output.
absl::StatusOr<Tensor> ConvMagnitude(const Node& node,
                                     std::span<const Tensor> inputs);  // also for conv_transpose
absl::StatusOr<Tensor> DeformConvMagnitude(const Node& node, std::span<const Tensor> inputs);
absl::StatusOr<Tensor> MatMulMagnitude(const Node& node, std::span<const Tensor> inputs);
absl::StatusOr<Tensor> AttentionMagnitude(const Node& node, std::span<const Tensor> inputs);
absl::StatusOr<Tensor> ReduceSumMagnitude(const Node& node, std::span<const Tensor> inputs);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_MAGNITUDE_H_

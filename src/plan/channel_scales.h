// Factors of the channels of a feature map, such as squeeze and excitation's.
#ifndef ATTUNE_PLAN_CHANNEL_SCALES_H_
#define ATTUNE_PLAN_CHANNEL_SCALES_H_

#include "absl/status/status.h"
#include "graph/graph.h"
#include "target/target.h"

namespace attune {

// Multiplies the weights of a convolution in f32 by the factors of its input's channels, in its own kernel,
// instead of multiplying the map in a kernel before it: where that is predicted to pay, and nobody else uses
// the product. Takes fused groups whose layouts are assigned.
absl::Status ScaleWeights(Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_PLAN_CHANNEL_SCALES_H_

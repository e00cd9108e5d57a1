// Cross-layer equalization: scales the channels of a feature map so that they fit a common quantization
// scale.
//
// Problem: channels of one feature map differ in size by orders of magnitude, and a common scale rounds the
// small ones away. Idea: max(0, s x) = s max(0, x) for s > 0, so a factor for each channel can move from
// the weights before a ReLU to those after it. Weights have a scale for each output channel, so the layer
// before loses nothing, and neither does a layer after it whose channels are independent: then all channels
// are made equally large, as measured on samples. A layer that sums over channels has one scale for all
// weights of an output channel: there, only half of the factor (in the logarithm) moves, and the other half
// stays. A bound like that of ReLU6 becomes one bound per channel. After Nagel et al., Data-free
// quantization through weight equalization and bias correction, 2019, arXiv 1906.04721, section 4.1, and
// Xiao et al., SmoothQuant, 2023, arXiv 2211.10438, section 4.
#ifndef ATTUNE_QUANT_EQUALIZE_H_
#define ATTUNE_QUANT_EQUALIZE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/graph.h"
#include "quant/calibration.h"

namespace attune::quant {

// Equalizes all pairs of convolutions of `graph` in which the second is the only user of the first's
// result, directly or through ReLU, leaky ReLU or a ReLU with a bound. Uses the largest values on the first
// few of `samples`. The network computes the same, up to rounding. Returns the number of pairs, or an error
// of `executor`.
absl::StatusOr<int> EqualizeLayers(Graph& graph, const std::vector<Sample>& samples,
                                   const Executor& executor);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_EQUALIZE_H_

// Cross-layer equalization: what makes the channels of a feature map fit one scale.
//
// Problem: channels of one feature map differ in size by orders of magnitude, and what has one scale for all
// of them rounds the small ones away. Idea: max(0, s x) = s max(0, x) for s > 0, so that a factor of each
// channel may move from the weights before a ReLU to those after it. Weights have a scale for each output
// channel, so the layer before it loses nothing, nor does one after it that computes each channel by itself:
// the channels then come out equally large, as samples show. One that adds channels up has one scale for all
// of an output channel's weights: there, half of the factor, in the logarithm, is left to its weights. A
// bound like that of ReLU6 becomes one for each channel. After Nagel et al., Data-free quantization through
// weight equalization and bias correction, 2019, arXiv 1906.04721, section 4.1, and Xiao et al., SmoothQuant,
// 2023, arXiv 2211.10438, section 4.
#ifndef ATTUNE_QUANT_EQUALIZE_H_
#define ATTUNE_QUANT_EQUALIZE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/graph.h"
#include "quant/calibration.h"

namespace attune::quant {

// Equalizes all pairs of convolutions of `graph` of which the second alone uses the first's result, directly
// or through ReLU, leaky ReLU or a ReLU with a bound, by the largest values that the first few of `samples`
// give. What the network computes stays the same, to rounding. Returns the number of pairs, or an error of
// `executor`.
absl::StatusOr<int> EqualizeLayers(Graph& graph, const std::vector<Sample>& samples,
                                   const Executor& executor);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_EQUALIZE_H_

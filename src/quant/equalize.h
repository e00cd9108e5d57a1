// Cross-layer equalization: what makes weights fit one scale before they are rounded.
//
// Problem: channels of one tensor differ in size by orders of magnitude, and what has one scale for all of
// them (the activations between two layers) rounds the small ones away. Idea: max(0, s x) = s max(0, x) for
// s > 0, so that a factor of each channel may move from the weights before a ReLU to those after it. With
// s = √(r₁ r₂) / r₂, r the largest weights of the channel on both sides, both have equal ranges (Nagel et
// al.: Data-free quantization through weight equalization and bias correction, 2019, arXiv 1906.04721,
// section 4.1).
#ifndef ATTUNE_QUANT_EQUALIZE_H_
#define ATTUNE_QUANT_EQUALIZE_H_

#include "graph/graph.h"

namespace attune::quant {

// Equalizes all pairs of convolutions of `graph` of which the second alone uses the first's result, directly
// or through ReLU or leaky ReLU; bounded activations such as ReLU6 stop it. Pairs that share a layer are
// balanced in up to `max_rounds` turns. What the network computes stays the same, to rounding. Returns the
// number of pairs.
int EqualizeLayers(Graph& graph, int max_rounds = 20);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_EQUALIZE_H_

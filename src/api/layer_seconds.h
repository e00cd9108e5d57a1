// How long each layer of a network takes at different precisions, as measured.
//
// Problem: a layer is no kernel: it is fused with what follows it, and with other layers, and in each
// precision in another way. Idea: the whole network is compiled in each precision and its kernels are timed.
// A kernel is named after one of its layers; those that come before it and have no kernel of their own in one
// of the precisions form a group with it, whose time they share by their multiply-adds.
#ifndef ATTUNE_API_LAYER_SECONDS_H_
#define ATTUNE_API_LAYER_SECONDS_H_

#include <span>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "quant/plan.h"

namespace attune {

// Of the layers of `graph`, which are called as quant::GraphNames calls them, on `threads` threads of this
// machine (0: all processors). `plan` has the ranges for int8. A layer without a kernel after it is left out.
absl::StatusOr<quant::LayerSeconds> MeasureLayerSeconds(const Graph& graph,
                                                        const quant::QuantizationPlan& plan,
                                                        std::span<const quant::Precision> precisions,
                                                        int threads);

}  // namespace attune

#endif  // ATTUNE_API_LAYER_SECONDS_H_

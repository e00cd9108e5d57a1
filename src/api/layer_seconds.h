// Measures how long each layer of a network takes at different precisions.
//
// Problem: layers and kernels do not correspond: a layer is fused with operators that follow it, or with
// other layers, and differently in each precision. Idea: compile the whole network in each precision and
// time its kernels. A kernel is named after one of its layers. The layers before it that lack a kernel of
// their own in some precision form a group with that layer, and the group's time is split among them by
// their multiply-adds.
#ifndef ATTUNE_API_LAYER_SECONDS_H_
#define ATTUNE_API_LAYER_SECONDS_H_

#include <span>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "quant/plan.h"

namespace attune {

// Times the layers of `graph`, named as by quant::GraphNames, on `threads` threads of this machine (0: all
// processors). `plan` has the ranges for int8. Trailing layers without a kernel after them are left out.
absl::StatusOr<quant::LayerSeconds> MeasureLayerSeconds(const Graph& graph,
                                                        const quant::QuantizationPlan& plan,
                                                        std::span<const quant::Precision> precisions,
                                                        int threads);

}  // namespace attune

#endif  // ATTUNE_API_LAYER_SECONDS_H_

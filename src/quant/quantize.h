// Quantization by a plan: pairs of quantize and dequantize where the passes of opt/ look for them.
#ifndef ATTUNE_QUANT_QUANTIZE_H_
#define ATTUNE_QUANT_QUANTIZE_H_

#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "opt/pass_plan.h"
#include "quant/cluster.h"
#include "quant/parameters.h"
#include "quant/plan.h"

namespace attune::quant {

// The passes that a graph goes through before it is calibrated: batch normalizations are in the weights,
// pads in the convolutions, and pieces of activations are one operator.
PassPlan PreparingPasses();

// A plan with every layer of the graph at `precision`, and no ranges.
QuantizationPlan UniformPlan(const Graph& graph, Precision precision);

// A copy of `graph`, in which
//   int8 layers take u8 values (sites.h), quantized by the plan's ranges, i8 weights with a scale for each
//     output channel, and a bias in i32 by steps of both scales, each dequantized before the layer;
//   bf16 and f16 layers take and give that type, with casts around.
// Inputs and outputs are as they were. Errors: a plan that names a layer which the graph lacks, or without a
// range that is needed.
absl::StatusOr<std::unique_ptr<Graph>> Quantize(const Graph& graph, const QuantizationPlan& plan);

// For each int8 layer of the plan, what it takes is quantized with. Errors as above.
absl::StatusOr<std::map<const Node*, ActivationParameters>> OperandParameters(const Graph& graph,
                                                                              const QuantizationPlan& plan);

// The weights of the plan's int8 layers, and of others that have at most plan.clusters different ones, as
// indices: how a file may store them. Those of few elements, and all without clusters, are not among them.
absl::StatusOr<std::vector<ClusteredLayer>> ClusteredLayers(const Graph& graph, const QuantizationPlan& plan);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_QUANTIZE_H_

// Quantizes by a plan: inserts pairs of quantize and dequantize where the passes of opt/ look for them.
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

// The passes to run on a graph before calibration: they fold batch normalizations into weights and pads
// into convolutions, and merge the parts of activations into one operator.
PassPlan PreparingPasses();

// A plan with every layer of the graph at `precision`, and no ranges.
QuantizationPlan UniformPlan(const Graph& graph, Precision precision);

// A copy of `graph`, in which
//   int8 layers have u8 inputs (sites.h), quantized by the plan's ranges, i8 weights with a scale for each
//     output channel, and a bias in i32 in steps of both scales, each dequantized before the layer;
//   bf16 and f16 layers have inputs and outputs of that type, with casts around them.
// The inputs and outputs of the graph stay the same. Errors: the plan names a layer that the graph lacks,
// or lacks a range that is needed.
absl::StatusOr<std::unique_ptr<Graph>> Quantize(const Graph& graph, const QuantizationPlan& plan);

// The parameters that quantize the input of each int8 layer of the plan. Errors as above.
absl::StatusOr<std::map<const Node*, ActivationParameters>> OperandParameters(const Graph& graph,
                                                                              const QuantizationPlan& plan);

// The weights of the plan's int8 layers as indices, and those of others that have at most plan.clusters
// distinct ones: a file may store them so. Weights with few elements are left out; without clusters, all
// are.
absl::StatusOr<std::vector<ClusteredLayer>> ClusteredLayers(const Graph& graph, const QuantizationPlan& plan);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_QUANTIZE_H_

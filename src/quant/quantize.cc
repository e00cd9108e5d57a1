#include "quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fatal.h"
#include "base/status.h"
#include "opt/rewrite.h"
#include "quant/layers.h"
#include "quant/sites.h"

namespace attune::quant {
namespace {

absl::Status CheckLayers(const GraphNames& names, const QuantizationPlan& plan) {
  for (const LayerPlan& layer : plan.layers) {
    if (names.FindLayer(layer.layer) != nullptr) continue;
    return InvalidInput("the plan is for another network: there is no layer \"", layer.layer,
                        "\" to quantize");
  }
  return absl::OkStatus();
}

std::set<const Node*> IntegerLayers(const GraphNames& names, const QuantizationPlan& plan) {
  std::set<const Node*> layers;
  for (const LayerPlan& layer : plan.layers) {
    if (layer.precision == Precision::kInt8) layers.insert(names.FindLayer(layer.layer));
  }
  return layers;
}

// The parameters of each group, which cover the ranges of all its sites.
absl::StatusOr<std::vector<ActivationParameters>> GroupParameters(const Sites& sites, const GraphNames& names,
                                                                  const QuantizationPlan& plan) {
  std::vector<std::optional<Range>> ranges(static_cast<size_t>(sites.num_groups));
  for (const Site& site : sites.sites) {
    const auto found = plan.ranges.find(names.Of(site.value));
    if (found == plan.ranges.end()) {
      return InvalidInput("the plan has no range for \"", names.Of(site.value),
                          "\", which is to be quantized; calibrate the network again");
    }
    std::optional<Range>& range = ranges[static_cast<size_t>(site.group)];
    range = range ? Range{std::min(range->low, found->second.low), std::max(range->high, found->second.high)}
                  : found->second;
  }
  std::vector<ActivationParameters> parameters;
  for (const std::optional<Range>& range : ranges) parameters.push_back(ParametersFor(*range));
  return parameters;
}

// Adds a node that is valid in any case.
Value* MustAdd(Graph& graph, Node* before, Op op, std::vector<Value*> inputs, Attributes attributes = {}) {
  Value* value = AddBefore(graph, before, op, std::move(inputs), std::move(attributes));
  if (value == nullptr) Fatal("cannot quantize '", before->name(), "' by a ", OpName(op));
  return value;
}

// Adds dequantize(integers) along `axis` before `before`.
Value* DequantizedConstant(Graph& graph, Node* before, Tensor integers, const std::vector<double>& scale,
                           int64_t axis) {
  Value* constant = graph.AddConstant(std::move(integers), before->name(), before);
  const Shape shape = {static_cast<int64_t>(scale.size())};
  Value* scales = graph.AddConstant(FromDoubles(DType::kF32, shape, scale), before->name(), before);
  return MustAdd(graph, before, Op::kDequantize, {constant, scales}, {{"axis", axis}});
}

void QuantizeLayer(Graph& graph, Node* layer, double input_scale, int clusters) {
  const std::optional<LayerBias> bias = BiasOf(graph, layer);
  const int axis = WeightAxis(*layer);
  const std::vector<double> offsets = bias ? bias->values : std::vector<double>();
  QuantizedWeights weights =
      QuantizeWeights(*layer->input(1)->constant(), axis, offsets, input_scale, clusters);
  layer->SetInput(1, DequantizedConstant(graph, layer, std::move(weights.integers), weights.scale, axis));
  if (!bias) return;
  // Rounded to f32, as in the pass integer_products, which computes the product of both scales.
  std::vector<double> steps = weights.scale;
  Tensor integers(DType::kI32, {static_cast<int64_t>(steps.size())});
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i] = static_cast<double>(static_cast<float>(steps[i] * input_scale));
    integers.SetDouble(static_cast<int64_t>(i), std::nearbyint(offsets[i] / steps[i]));
  }
  Value* rounded = DequantizedConstant(graph, bias->node, std::move(integers), steps, 0);
  bias->node->SetInput(bias->input, rounded);
}

// Finds the node after each value's producer; for a value without a producer, the first node.
class Successors {
 public:
  explicit Successors(const Graph& graph) {
    const Node* previous = nullptr;
    for (const auto& node : graph.nodes()) {
      after_[previous] = node.get();
      previous = node.get();
    }
  }
  Node* After(const Value* value) const {
    const auto it = after_.find(value->producer());
    return it == after_.end() ? nullptr : it->second;
  }

 private:
  std::unordered_map<const Node*, Node*> after_;
};

void QuantizeSite(Graph& graph, const Site& site, const ActivationParameters& parameters, Node* before) {
  if (site.users.empty()) return;
  Value* scale = graph.AddConstant(Tensor::Scalar(DType::kF32, parameters.scale), "", before);
  Value* zero =
      graph.AddConstant(Tensor::Scalar(DType::kU8, static_cast<double>(parameters.zero)), "", before);
  Value* integers = graph.Make(Op::kQuantize, {site.value, scale, zero}, {{"to", DType::kU8}}, before);
  Value* numbers = graph.Make(Op::kDequantize, {integers, scale, zero}, {}, before);
  for (Node* user : site.users) {
    // Only the first operand of a layer is a value between layers.
    const int operands = IsConv(user->op()) || IsMatMul(user->op()) ? 1 : user->num_inputs();
    for (int i = 0; i < operands; ++i) {
      if (user->input(i) == site.value) user->SetInput(i, numbers);
    }
  }
}

// Replaces the layer by one in another float type, with casts around it.
void NarrowLayer(Graph& graph, Node* layer, DType dtype) {
  std::vector<Value*> inputs;
  for (Value* input : layer->inputs()) {
    if (const Tensor* constant = input->constant()) {
      Tensor narrow = FromDoubles(dtype, constant->shape(), ToDoubles(*constant));
      inputs.push_back(graph.AddConstant(std::move(narrow), layer->name(), layer));
    } else {
      inputs.push_back(MustAdd(graph, layer, Op::kCast, {input}, {{"to", dtype}}));
    }
  }
  Value* narrow = MustAdd(graph, layer, layer->op(), std::move(inputs), layer->attrs());
  ReplaceNode(graph, layer, MustAdd(graph, layer, Op::kCast, {narrow}, {{"to", DType::kF32}}));
}

}  // namespace

PassPlan PreparingPasses() {
  PassPlan plan;
  for (const char* pass : {"dead_code", "fold_constants", "inline_branches", "fold_constants", "eliminate",
                           "common_subexpressions", "recognize_activations", "algebra",
                           "decompose_batch_norm", "sink_transposes", "fold_constants", "eliminate",
                           "fold_pad", "algebra", "fold_affine", "eliminate", "dead_code"}) {
    plan.steps.push_back({pass, {}});
  }
  return plan;
}

QuantizationPlan UniformPlan(const Graph& graph, Precision precision) {
  const GraphNames names(graph);
  QuantizationPlan plan;
  for (const Node* layer : LayersOf(graph)) plan.layers.push_back({names.Of(layer), precision, ""});
  return plan;
}

absl::StatusOr<std::map<const Node*, ActivationParameters>> OperandParameters(const Graph& graph,
                                                                              const QuantizationPlan& plan) {
  const GraphNames names(graph);
  RETURN_IF_ERROR(CheckLayers(names, plan));
  const Sites sites = FindSites(graph, IntegerLayers(names, plan));
  ASSIGN_OR_RETURN(const std::vector<ActivationParameters> parameters, GroupParameters(sites, names, plan));
  std::map<const Node*, ActivationParameters> of_layers;
  for (const auto& [layer, group] : sites.group_of_layer) {
    of_layers[layer] = parameters[static_cast<size_t>(group)];
  }
  return of_layers;
}

absl::StatusOr<std::vector<ClusteredLayer>> ClusteredLayers(const Graph& graph,
                                                            const QuantizationPlan& plan) {
  const GraphNames names(graph);
  ASSIGN_OR_RETURN(const auto parameters, OperandParameters(graph, plan));
  std::vector<ClusteredLayer> clustered;
  for (Node* layer : LayersOf(graph)) {
    const Tensor& weights = *layer->input(1)->constant();
    if (plan.clusters == 0 || weights.num_elements() < kLeastClustered) continue;
    const auto found = parameters.find(layer);
    Tensor few = weights;
    if (found != parameters.end()) {
      const std::optional<LayerBias> bias = BiasOf(graph, layer);
      const std::vector<double> offsets = bias ? bias->values : std::vector<double>();
      few =
          QuantizeWeights(weights, WeightAxis(*layer), offsets, found->second.scale, plan.clusters).integers;
    }
    std::optional<ClusteredTensor> tensor = IndexValues(few, plan.clusters);
    if (tensor) clustered.push_back({names.Of(layer), *std::move(tensor)});
  }
  return clustered;
}

absl::StatusOr<std::unique_ptr<Graph>> Quantize(const Graph& graph, const QuantizationPlan& plan) {
  std::unique_ptr<Graph> quantized = graph.Clone();
  const GraphNames names(*quantized);
  RETURN_IF_ERROR(CheckLayers(names, plan));
  const Sites sites = FindSites(*quantized, IntegerLayers(names, plan));
  ASSIGN_OR_RETURN(const std::vector<ActivationParameters> parameters, GroupParameters(sites, names, plan));
  const Successors successors(*quantized);
  for (const Site& site : sites.sites) {
    QuantizeSite(*quantized, site, parameters[static_cast<size_t>(site.group)], successors.After(site.value));
  }
  for (const LayerPlan& layer : plan.layers) {
    Node* node = names.FindLayer(layer.layer);
    switch (layer.precision) {
      case Precision::kF32:
        break;
      case Precision::kInt8:
        QuantizeLayer(*quantized, node, parameters[static_cast<size_t>(sites.group_of_layer.at(node))].scale,
                      plan.clusters);
        break;
      case Precision::kBF16:
        NarrowLayer(*quantized, node, DType::kBF16);
        break;
      case Precision::kF16:
        NarrowLayer(*quantized, node, DType::kF16);
        break;
    }
  }
  EraseUnusedConstants(*quantized);
  return quantized;
}

}  // namespace attune::quant

#include "quant/layer_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "opt/rewrite.h"
#include "quant/layers.h"
#include "quant/quantize.h"

namespace attune::quant {
namespace {

// The number of outputs that a twin adds to the network; AddTwin defines their order.
constexpr size_t kOutputsOfTwin = 4;

DType NarrowType(Precision precision) { return precision == Precision::kF16 ? DType::kF16 : DType::kBF16; }

// The value after storing it with the layer's precision; the new nodes come before `before`.
Value* Stored(Graph& graph, Value* value, Precision precision, const ActivationParameters& parameters,
              Node* before) {
  if (precision != Precision::kInt8) {
    Value* narrow = graph.Make(Op::kCast, {value}, {{"to", NarrowType(precision)}}, before);
    return graph.Make(Op::kCast, {narrow}, {{"to", DType::kF32}}, before);
  }
  Value* scale = graph.AddConstant(Tensor::Scalar(DType::kF32, parameters.scale), "", before);
  Value* zero =
      graph.AddConstant(Tensor::Scalar(DType::kU8, static_cast<double>(parameters.zero)), "", before);
  Value* integers = graph.Make(Op::kQuantize, {value, scale, zero}, {{"to", DType::kU8}}, before);
  return graph.Make(Op::kDequantize, {integers, scale, zero}, {}, before);
}

Tensor StoredWeights(const Graph& graph, Node* layer, Precision precision,
                     const ActivationParameters& parameters, int clusters) {
  const Tensor& weights = *layer->input(1)->constant();
  if (precision != Precision::kInt8) return Converted(weights, NarrowType(precision));
  const int axis = WeightAxis(*layer);
  const std::optional<LayerBias> bias = BiasOf(graph, layer);
  const std::vector<double> offsets = bias ? bias->values : std::vector<double>();
  return Dequantized(QuantizeWeights(weights, axis, offsets, parameters.scale, clusters), axis);
}

// All axes of a tensor of `rank` except `kept`; -1 keeps none.
Ints AxesBut(int rank, int kept) {
  Ints axes;
  for (int axis = 0; axis < rank; ++axis) {
    if (axis != kept) axes.push_back(axis);
  }
  return axes;
}

// Adds the layer's twin before `before`, the node after the layer (nullptr: at the end), and outputs that
// compare the two.
void AddTwin(Graph& graph, Node* layer, Node* before, Precision precision,
             const ActivationParameters& parameters, int clusters) {
  const int rank = layer->output()->type().rank();
  std::vector<Value*> inputs = layer->inputs();
  inputs[0] = Stored(graph, inputs[0], precision, parameters, before);
  inputs[1] = graph.AddConstant(StoredWeights(graph, layer, precision, parameters, clusters), "", before);
  Value* twin = graph.Make(layer->op(), std::move(inputs), layer->attrs(), before);
  if (precision != Precision::kInt8) twin = Stored(graph, twin, precision, parameters, before);
  Value* difference = graph.Make(Op::kSub, {twin, layer->output()}, {}, before);
  const auto reduce = [&](Op op, Value* value, int kept) {
    const Attributes attributes = {{"axes", AxesBut(rank, kept)}, {"keepdims", int64_t{0}}};
    return graph.Make(op, {value}, attributes, before);
  };
  const auto square = [&](Value* value) { return graph.Make(Op::kMul, {value, value}, {}, before); };
  const auto add_output = [&](Value* value) {
    graph.AddOutput(absl::StrCat("error.", graph.outputs().size()), value);
  };
  add_output(reduce(Op::kReduceMean, difference, OutputAxis(*layer)));
  add_output(reduce(Op::kReduceMean, square(difference), -1));
  add_output(reduce(Op::kReduceMean, square(layer->output()), -1));
  add_output(reduce(Op::kReduceMax, graph.Make(Op::kAbs, {difference}, {}, before), -1));
}

// Adds the errors of one of `count` samples to those of the layer.
void Accumulate(const Tensor* outputs, double count, LayerError& error) {
  const std::vector<double> means = ToDoubles(outputs[0]);
  error.channel_mean.resize(means.size(), 0);
  for (size_t c = 0; c < means.size(); ++c) error.channel_mean[c] += means[c] / count;
  error.mean_square += outputs[1].ToDouble(0) / count;
  error.signal_mean_square += outputs[2].ToDouble(0) / count;
  error.max_absolute = std::max(error.max_absolute, outputs[3].ToDouble(0));
}

}  // namespace

double LayerError::SqnrDb() const {
  if (mean_square == 0) return std::numeric_limits<double>::infinity();
  constexpr double kDecibel = 10;
  return kDecibel * std::log10(signal_mean_square / mean_square);
}

absl::StatusOr<std::map<std::string, LayerError>> MeasureLayerErrors(const Graph& graph,
                                                                     const QuantizationPlan& plan,
                                                                     const std::vector<Sample>& samples,
                                                                     const Executor& executor) {
  if (samples.empty()) return InvalidInput("there are no samples to measure with");
  const std::unique_ptr<Graph> probe = graph.Clone();
  const GraphNames names(*probe);
  ASSIGN_OR_RETURN(const auto parameters, OperandParameters(*probe, plan));
  std::vector<std::string> measured;
  const size_t own = probe->outputs().size();
  // Twins are inserted before the next node, so this loop does not visit them, although they are layers,
  // too.
  for (auto it = probe->nodes().begin(); it != probe->nodes().end();) {
    Node* layer = it++->get();
    Node* next = it == probe->nodes().end() ? nullptr : it->get();
    if (!IsLayer(*layer) || probe->NumUses(layer->output()) == 0) continue;
    const std::string& name = names.Of(layer);
    const Precision precision = plan.PrecisionOf(name);
    if (precision == Precision::kF32) continue;
    const auto found = parameters.find(layer);
    AddTwin(*probe, layer, next, precision,
            found == parameters.end() ? ActivationParameters() : found->second, plan.clusters);
    measured.push_back(name);
  }
  std::map<std::string, LayerError> errors;
  for (const Sample& sample : samples) {
    ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, executor.Run(*probe, sample));
    for (size_t i = 0; i < measured.size(); ++i) {
      Accumulate(&outputs[own + i * kOutputsOfTwin], static_cast<double>(samples.size()),
                 errors[measured[i]]);
    }
  }
  return errors;
}

int CorrectBiases(Graph& graph, const QuantizationPlan& plan,
                  const std::map<std::string, LayerError>& errors) {
  const GraphNames names(graph);
  int corrected = 0;
  for (Node* layer : LayersOf(graph)) {
    const auto error = errors.find(names.Of(layer));
    if (error == errors.end() || plan.PrecisionOf(names.Of(layer)) != Precision::kInt8) continue;
    std::optional<LayerBias> bias = BiasOf(graph, layer);
    if (!bias) {
      if (layer->op() != Op::kConv || layer->input(2) != nullptr) continue;
      bias = LayerBias{layer, 2, std::vector<double>(static_cast<size_t>(NumChannels(*layer)), 0)};
    }
    for (size_t c = 0; c < bias->values.size(); ++c) bias->values[c] -= error->second.channel_mean[c];
    const Shape shape = {static_cast<int64_t>(bias->values.size())};
    Tensor tensor = FromDoubles(DType::kF32, shape, bias->values);
    Value* constant = graph.AddConstant(std::move(tensor), bias->node->name(), bias->node);
    bias->node->SetInput(bias->input, constant);
    ++corrected;
  }
  EraseUnusedConstants(graph);
  return corrected;
}

}  // namespace attune::quant

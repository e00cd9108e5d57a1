#include "opt/narrowing_error.h"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

Value* InBF16(Graph& graph, Value* value, Node* before) {
  const Tensor* constant = value->constant();
  if (constant == nullptr) return graph.Make(Op::kCast, {value}, {{"to", DType::kBF16}}, before);
  return graph.AddConstant(ToBF16(*constant), "", before);
}

Value* MeanSquare(Graph& graph, Value* value, Node* before) {
  Value* square = graph.Make(Op::kMul, {value, value}, {}, before);
  Ints axes(static_cast<size_t>(value->type().rank()));
  if (axes.empty()) return square;
  std::iota(axes.begin(), axes.end(), 0);
  return graph.Make(Op::kReduceMean, {square}, {{"axes", axes}, {"keepdims", int64_t{0}}}, before);
}

// Adds the layer's twin before `before`, the node that follows the layer, and two outputs: the mean squares
// of the difference and of the layer's own output.
void AddTwin(Graph& graph, const Node& layer, Node* before) {
  std::vector<Value*> inputs;
  for (int i = 0; i < layer.num_inputs(); ++i) {
    Value* input = layer.input(i);
    inputs.push_back(IsNarrowedInput(layer, i) ? InBF16(graph, input, before) : input);
  }
  Value* narrow = graph.Make(layer.op(), inputs, layer.attrs(), before);
  Value* wide = graph.Make(Op::kCast, {narrow}, {{"to", DType::kF32}}, before);
  Value* difference = graph.Make(Op::kSub, {wide, layer.output()}, {}, before);
  const size_t number = graph.outputs().size();
  graph.AddOutput(absl::StrCat("bf16.difference.", number), MeanSquare(graph, difference, before));
  graph.AddOutput(absl::StrCat("bf16.layer.", number), MeanSquare(graph, layer.output(), before));
}

// `layers` are nodes of `graph`, in its order.
std::unique_ptr<Graph> MakeProbe(const Graph& graph, const std::vector<const Node*>& layers) {
  std::unique_ptr<Graph> probe = graph.Clone();
  auto layer = layers.begin();
  auto copy = probe->nodes().begin();
  for (const auto& node : graph.nodes()) {
    const Node& twinned = **copy++;
    if (layer == layers.end() || node.get() != *layer) continue;
    ++layer;
    AddTwin(*probe, twinned, copy == probe->nodes().end() ? nullptr : copy->get());
  }
  return probe;
}

double RelativeError(double difference, double layer) {
  if (!std::isfinite(difference) || !std::isfinite(layer)) return std::numeric_limits<double>::infinity();
  return difference == 0 ? 0 : std::sqrt(difference / layer);
}

}  // namespace

bool IsLayer(const Node& node) {
  return GetOpInfo(node.op()).category == OpCategory::kContraction &&
         node.output()->type().dtype == DType::kF32;
}

std::string LayerName(const Node& layer) {
  return !layer.name().empty() ? layer.name() : absl::StrCat(OpName(layer.op()), " ", layer.output()->name());
}

bool IsNarrowedInput(const Node& node, int i) {
  constexpr int kMask = 3;
  const Value* input = node.input(i);
  return input != nullptr && input->type().dtype == DType::kF32 &&
         !(node.op() == Op::kAttention && i == kMask);
}

absl::StatusOr<NarrowingErrors> MeasureNarrowing(const Graph& graph, const std::vector<const Node*>& layers,
                                                 const ErrorProbe& measurement) {
  const std::unique_ptr<Graph> probe = MakeProbe(graph, layers);
  NarrowingErrors errors;
  ASSIGN_OR_RETURN(errors.outputs, measurement.executor->Run(*probe, *measurement.examples));
  const size_t own = graph.outputs().size();
  for (size_t i = own; i + 1 < errors.outputs.size(); i += 2) {
    errors.layers.push_back(RelativeError(errors.outputs[i].ToDouble(0), errors.outputs[i + 1].ToDouble(0)));
  }
  errors.outputs.resize(own);
  return errors;
}

}  // namespace attune

// Chooses the values that become bf16: those between operators that gain by it.
//
// Problem: a value in bf16 has 8 bits of significand. Products of such numbers are exact in f32, and sums
// are kept in f32, so digits are lost only when a value is stored. Idea: operators that are fast in bf16
// (products, which have an instruction for it), operators that only move memory, and those on feature maps
// take and give bf16. Exponentials, quantization, control flow and products with too few terms for the
// instruction stay as they are, with casts between, which are fused into their neighbours. The sums that
// run through a transformer from layer to layer stay in f32 too: each layer adds little to a large sum, and
// rounding would take a part of that every time. A layer that errs by more than the plan allows, where that
// can be measured (narrowing_error.h), stays in f32 as well, together with the operators that compute its
// inputs from another layer's output: rounding what they store would cause the same error.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/float16.h"
#include "opt/narrowing_error.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

bool IsF32(const Value* value) { return value != nullptr && value->type().dtype == DType::kF32; }

// Whether the sum's terms come in pairs that are neighbours in memory: pairs of channels where these are in
// blocks, and else pairs of neighbouring taps.
bool HasPairs(const Node& node) {
  if (node.op() == Op::kMatMul) {
    const Shape a = node.input(0)->type().shape();
    return !node.attrs().Bool("transpose_a") && a.back() % 2 == 0 && node.input(1)->constant() != nullptr;
  }
  const Shape w = node.input(1)->type().shape();
  const bool depthwise = w[1] == 1;
  constexpr int64_t kBlock = 16;  // narrower feature maps are not kept in blocks of channels
  if (node.input(0)->type().shape()[1] >= kBlock) return depthwise || w[1] % 2 == 0;
  constexpr size_t kImage = 4;
  return depthwise || (w.size() == kImage && w.back() > 1 && node.attrs().Int("group", 1) == 1 &&
                       node.attrs().IntList("dilations", Ints(w.size() - 2, 1)).back() == 1);
}

// Whether all finite numbers of a constant stay finite in bf16, whose largest number is less than that of
// f32. Masks are made with the lowest f32, which would become -∞, and NaN when multiplied by 0.
bool FitsBF16(const Tensor& constant) {
  return std::ranges::all_of(ToDoubles(constant), [](double x) {
    return !std::isfinite(x) || std::isfinite(BF16ToFloat(FloatToBF16(static_cast<float>(x))));
  });
}

bool HasWideConstant(const Node& node) {
  return std::ranges::any_of(node.inputs(), [](const Value* input) {
    return input != nullptr && IsF32(input) && input->constant() != nullptr && !FitsBF16(*input->constant());
  });
}

bool GainsByNarrowing(const Node& node) {
  switch (node.op()) {
    case Op::kConv:
    case Op::kMatMul:
      return node.input(0)->type().is_static() && HasPairs(node);
    case Op::kAttention:
      return node.input(0)->type().is_static() && node.input(0)->type().shape().back() % 2 == 0;
    case Op::kMaxPool:
    case Op::kAvgPool:
    case Op::kReduceMean:
    case Op::kReduceMax:
      return node.num_outputs() == 1;
    case Op::kCast:
      return false;
    default:
      break;
  }
  constexpr int kFeatureMap = 4;
  return GetOpInfo(node.op()).category == OpCategory::kMovement ||
         (IsElementwise(node.op()) && node.output()->type().rank() == kFeatureMap && !HasWideConstant(node));
}

// Types that the model asks for stay.
bool HasNoOtherFloats(const Node& node) {
  return std::ranges::all_of(node.inputs(), [](const Value* input) {
    return input == nullptr || !IsFloat(input->type().dtype) || IsF32(input);
  });
}

using Nodes = std::set<const Node*>;

// Takes a layer out of `chosen`, and the operators that compute its inputs, back to other layers and to
// values that others read too. Producers of the inputs themselves are taken out even if others read them.
void Exclude(const Graph& graph, const Node* layer, Nodes& chosen) {
  std::vector<const Node*> excluded = {layer};
  while (!excluded.empty()) {
    const Node* node = excluded.back();
    excluded.pop_back();
    chosen.erase(node);
    for (const Value* input : node->inputs()) {
      const Node* producer = input == nullptr ? nullptr : input->producer();
      if (producer == nullptr || !chosen.contains(producer) || IsLayer(*producer)) continue;
      if (node == layer || graph.NumUses(input) == 1) excluded.push_back(producer);
    }
  }
}

// Takes the operators that compute a number that becomes an integer out of `chosen`, back to operators that
// are neither elementwise nor movement: bf16 holds all whole numbers only up to 256, so its rounding may
// make another integer.
void ExcludeIntegers(const Graph& graph, Nodes& chosen) {
  std::vector<const Node*> left;
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kCast && IsInt(node->attrs().Type("to"))) left.push_back(node.get());
  }
  Nodes seen(left.begin(), left.end());
  while (!left.empty()) {
    const Node* node = left.back();
    left.pop_back();
    for (const Value* input : node->inputs()) {
      const Node* step = input == nullptr ? nullptr : input->producer();
      const bool passes_on = step != nullptr && (IsElementwise(step->op()) ||
                                                 GetOpInfo(step->op()).category == OpCategory::kMovement);
      if (!passes_on || !seen.insert(step).second) continue;
      chosen.erase(step);
      left.push_back(step);
    }
  }
}

using Errors = std::map<const Node*, double>;

// The errors of the layers that are chosen; none where they cannot be measured.
Errors Measure(const Graph& graph, const Nodes& chosen, const ErrorProbe& measurement,
               NarrowingReport& report) {
  std::vector<const Node*> layers;
  for (const auto& node : graph.nodes()) {
    const bool is_layer = IsLayer(*node) && node->output()->type().is_static();
    if (is_layer && chosen.contains(node.get())) layers.push_back(node.get());
  }
  absl::StatusOr<NarrowingErrors> measured = MeasureNarrowing(graph, layers, measurement);
  if (!measured.ok()) {
    report.failure = measured.status().message();
    return {};
  }
  report.outputs = std::move(measured->outputs);
  Errors errors;
  for (size_t i = 0; i < layers.size(); ++i) errors[layers[i]] = measured->layers[i];
  return errors;
}

void Report(const Graph& graph, const Nodes& chosen, const Errors& errors, NarrowingReport& report) {
  for (const auto& node : graph.nodes()) {
    if (!IsLayer(*node)) continue;
    const auto error = errors.find(node.get());
    report.layers.push_back({.name = LayerName(*node),
                             .is_bf16 = chosen.contains(node.get()),
                             .error = error == errors.end() ? std::nullopt : std::optional(error->second)});
  }
}

class Narrowing {
 public:
  Narrowing(Graph& graph, Nodes chosen) : graph_(graph), chosen_(std::move(chosen)) {}

  bool Run() {
    for (auto it = graph_.nodes().begin(); it != graph_.nodes().end(); ++it) {
      Node& node = **it;
      if (node.op() == Op::kConstant || made_.contains(&node)) continue;
      chosen_.contains(&node) ? Narrow(node) : Keep(node);
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      Value* value = graph_.outputs()[i].value;
      if (narrowed_.contains(value))
        graph_.SetOutput(static_cast<int>(i), CastOf(value, DType::kF32, nullptr));
    }
    return !narrowed_.empty();
  }

 private:
  void Narrow(Node& node) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (IsNarrowedInput(node, i)) node.SetInput(i, CastOf(node.input(i), DType::kBF16, &node));
    }
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (!IsF32(node.output(i))) continue;
      TensorType type = node.output(i)->type();
      type.dtype = DType::kBF16;
      node.output(i)->set_type(std::move(type));
      narrowed_.insert(node.output(i));
    }
  }

  void Keep(Node& node) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (narrowed_.contains(node.input(i))) node.SetInput(i, CastOf(node.input(i), DType::kF32, &node));
    }
  }

  // `value` in another type, made once, before its first use there.
  Value* CastOf(Value* value, DType dtype, Node* before) {
    Value*& cast = casts_[{value, dtype}];
    if (cast != nullptr) return cast;
    if (const Tensor* constant = value->constant()) {
      cast = graph_.AddConstant(ToBF16(*constant), value->name(), before);  // narrowed_ has no constants
    } else {
      cast = graph_.Make(Op::kCast, {value}, {{"to", dtype}}, before);
    }
    made_.insert(cast->producer());
    return cast;
  }

  Graph& graph_;
  Nodes chosen_;
  std::set<const Value*> narrowed_;
  Nodes made_;
  std::map<std::pair<const Value*, DType>, Value*> casts_;
};

}  // namespace

absl::StatusOr<bool> NarrowPass(Graph& graph, const PassContext& context) {
  if (context.Parameter("bf16") == 0) return false;
  NarrowingReport unread;
  NarrowingReport& report = context.narrowing == nullptr ? unread : *context.narrowing;
  Nodes chosen;
  for (const auto& node : graph.nodes()) {
    if (HasNoOtherFloats(*node) && GainsByNarrowing(*node)) chosen.insert(node.get());
  }
  ExcludeIntegers(graph, chosen);
  Errors errors;
  constexpr double kUnit = 1e-4;
  const double max_error = kUnit * static_cast<double>(context.Parameter("max_error"));
  if (max_error > 0 && context.measurement.executor != nullptr) {
    errors = Measure(graph, chosen, context.measurement, report);
  }
  for (const auto& [layer, error] : errors) {
    if (error > max_error) Exclude(graph, layer, chosen);
  }
  Report(graph, chosen, errors, report);
  return Narrowing(graph, std::move(chosen)).Run();
}

}  // namespace attune

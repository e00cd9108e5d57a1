// Products of f32 as three of bf16, for processors that multiply tiles of bf16 many times as fast.
//
// Problem: bf16 has 8 bits of significand, f32 has 24. Idea: x is high(x) + low(x), up to 2^-17 of x.
// high(x) is x rounded to bf16, and low(x) is the rest, rounded likewise. So xw is high·high + high·low +
// low·high, up to 2^-15 of xw. All three products are exact in f32 and may be added to one sum. That makes
// them one convolution or matrix product, with operands that have three times the channels or terms: high,
// high, low of the left one, and high, low, high of the right one. Constants are split here, other operands
// by elementwise operators before a concatenation, which fusion makes one kernel of.
//
// Special values: a number that bf16 would round to infinity has the largest bf16 as its high part. An
// infinite x has the parts ∞, 0, 0: one infinite product decides the sum, and none is ∞ · low(w), which is
// NaN where w is a bf16. NaN stays NaN in all parts. (Henry, Tang, Heinecke: Leveraging the bfloat16
// artificial intelligence datatype for higher-precision computations, ARITH 2019.)
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/float16.h"
#include "opt/narrowing_error.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

constexpr double kLargestBF16 = 0x1.FEp127;
constexpr int kParts = 3;

enum class Part { kFirst, kHigh, kLow };  // kFirst: the high part, infinite where x is

using Parts = std::array<Part, kParts>;
constexpr Parts kLeft = {Part::kFirst, Part::kHigh, Part::kLow};
constexpr Parts kRight = {Part::kFirst, Part::kLow, Part::kHigh};

uint16_t PartOf(float x, Part part) {
  const float finite = std::isinf(x) ? 0 : x;
  const auto limit = static_cast<float>(kLargestBF16);
  const uint16_t high = FloatToBF16(std::isnan(x) ? x : std::clamp(finite, -limit, limit));
  if (part == Part::kLow) return FloatToBF16(finite - BF16ToFloat(high));
  return part == Part::kFirst && std::isinf(x) ? FloatToBF16(x) : high;
}

// The parts of all elements, concatenated along `axis`.
Tensor SplitConstant(const Tensor& tensor, int axis, const Parts& parts) {
  Shape shape = tensor.shape();
  int64_t row = 1;
  for (size_t d = static_cast<size_t>(axis); d < shape.size(); ++d) row *= shape[d];
  shape[static_cast<size_t>(axis)] *= kParts;
  Tensor split(DType::kBF16, shape);
  const auto from = tensor.as<float>();
  uint16_t* to = split.as_mutable<uint16_t>().data();
  for (int64_t begin = 0; begin < tensor.num_elements(); begin += row) {
    for (const Part part : parts) {
      for (int64_t i = begin; i < begin + row; ++i) *to++ = PartOf(from[static_cast<size_t>(i)], part);
    }
  }
  return split;
}

bool IsStaticF32(const Value* value) {
  return value->type().dtype == DType::kF32 && value->type().is_static();
}

// Tiles have rows, of pixels or of a matrix, and terms in pairs; with fewer rows f32 is as fast.
constexpr int64_t kLeastRows = 4;

// Whether Winograd's algorithm takes so few products of f32 that three of bf16 are no faster.
bool HasFewerProducts(const Node& conv) {
  const Shape w = conv.input(1)->type().shape();
  return w[2] == 3 && w[3] == 3 && AllAre(conv.attrs().IntList("strides", {}), 1) &&
         AllAre(conv.attrs().IntList("dilations", {}), 1);
}

// Whether instructions for tiles can compute the three products, and each element that is split when the
// network runs takes part in at least `min_uses` products.
bool GainsBySplitting(const Node& node, int64_t min_uses) {
  if ((node.op() != Op::kConv && node.op() != Op::kMatMul) || !IsStaticF32(node.output()) ||
      !IsStaticF32(node.input(0)) || !IsStaticF32(node.input(1)) || node.output()->type().num_elements() == 0)
    return false;
  const Shape x = node.input(0)->type().shape(), w = node.input(1)->type().shape();
  const Shape out = node.output()->type().shape();
  int64_t rows, columns;
  if (node.op() == Op::kConv) {
    constexpr size_t kImage = 4;
    if (out.size() != kImage || node.attrs().Int("group", 1) != 1 || HasFewerProducts(node)) return false;
    rows = out[2] * out[3];
    columns = w[0];
  } else {
    if (node.attrs().Bool("transpose_a") || x.back() % 2 != 0 || x.back() == 0 || out.back() == 1)
      return false;
    rows = out[out.size() - 2];
    columns = out.back();
  }
  const int64_t products =
      node.output()->type().num_elements() * (node.op() == Op::kConv ? w[1] * w[2] * w[3] : x.back());
  const auto is_used = [&](const Value* operand) {
    return operand->constant() != nullptr || products >= min_uses * operand->type().num_elements();
  };
  return rows >= kLeastRows && columns > 1 && is_used(node.input(0)) && is_used(node.input(1));
}

class Splitting {
 public:
  explicit Splitting(Graph& graph) : graph_(graph) {}

  void Split(Node* node) {
    const bool is_conv = node->op() == Op::kConv;
    Attributes attrs = node->attrs();
    attrs.Set("to", DType::kF32);
    const int left_axis = is_conv ? 1 : node->input(0)->type().rank() - 1;
    const int right_axis =
        is_conv ? 1 : node->input(1)->type().rank() - (node->attrs().Bool("transpose_b") ? 1 : 2);
    std::vector<Value*> inputs = {SplitOf(node->input(0), left_axis, kLeft, node),
                                  SplitOf(node->input(1), right_axis, kRight, node)};
    if (node->num_inputs() > 2) inputs.push_back(node->input(2));
    ReplaceNode(graph_, node, AddBefore(graph_, node, node->op(), std::move(inputs), std::move(attrs)));
  }

 private:
  // `value` split into `parts`; made once, before its first use.
  Value* SplitOf(Value* value, int axis, const Parts& parts, Node* before) {
    Value*& split = splits_[{value, axis, parts}];
    if (split != nullptr) return split;
    if (const Tensor* constant = value->constant()) {
      split = graph_.AddConstant(SplitConstant(*constant, axis, parts), value->name(), before);
      return split;
    }
    std::vector<Value*> operands;
    for (const Part part : parts) operands.push_back(PartOf(value, part, before));
    split = graph_.Make(Op::kConcat, operands, {{"axis", int64_t{axis}}}, before);
    return split;
  }

  // Each part has nodes of its own: a kernel that takes a value from another one would wait for memory.
  Value* PartOf(Value* x, Part part, Node* before) {
    const auto make = [&](Op op, std::vector<Value*> inputs, Attributes attrs = {}) {
      return graph_.Make(op, std::move(inputs), std::move(attrs), before);
    };
    const Attributes limits = {{"min", ExactNumber(-kLargestBF16)}, {"max", ExactNumber(kLargestBF16)}},
                     bf16 = {{"to", DType::kBF16}};
    Value* is_infinite = make(Op::kIsInf, {x});
    if (part == Part::kFirst)
      return make(Op::kCast, {make(Op::kWhere, {is_infinite, x, make(Op::kClip, {x}, limits)})}, bf16);
    Value* zero = graph_.AddConstant(Tensor::Scalar(DType::kF32, 0), "", before);
    Value* finite = make(Op::kWhere, {is_infinite, zero, x});
    Value* high = make(Op::kCast, {make(Op::kClip, {finite}, limits)}, bf16);
    if (part == Part::kHigh) return high;
    Value* rest = make(Op::kSub, {finite, make(Op::kCast, {high}, {{"to", DType::kF32}})});
    return make(Op::kCast, {rest}, bf16);
  }

  Graph& graph_;
  std::map<std::tuple<const Value*, int, Parts>, Value*> splits_;
};

}  // namespace

absl::StatusOr<bool> SplitProductsPass(Graph& graph, const PassContext& context) {
  if (context.Parameter("bf16x3") == 0) return false;
  std::vector<Node*> chosen;
  for (const auto& node : graph.nodes()) {
    const bool gains = GainsBySplitting(*node, context.Parameter("min_uses"));
    if (gains) chosen.push_back(node.get());
    if (context.narrowing != nullptr && IsLayer(*node))
      context.narrowing->layers.push_back({.name = LayerName(*node), .is_bf16 = gains, .error = {}});
  }
  Splitting splitting(graph);
  for (Node* node : chosen) splitting.Split(node);
  return !chosen.empty();
}

}  // namespace attune

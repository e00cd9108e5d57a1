// Problem: between a sum of integers and the next quantization stand a dequantization, an offset, an
// activation, another branch's dequantization, a division by the scale, and a zero point. In a layer with
// few terms they take half of the time.
//
// Idea: the division moves up. Dividing a sum divides its terms; dividing a ReLU or a clip divides its
// operand and its bounds; dividing a dequantization changes its scale. One multiply-add a term is left.
// Then the zero point becomes part of the offset, since rounding and adding whole numbers may be exchanged,
// except for ties. And a bound that the integers' own range sets anyway is dropped. Quotients that are
// rounded away from zero mean exactly what they say and stay as they are.
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// Multiplies a value by a positive factor, for one of its users, where that costs nothing.
class Scaler {
 public:
  Scaler(Graph& graph, Node* before, double factor) : graph_(graph), before_(before), factor_(factor) {}

  // Looks at each value once, and at no more than kMaxValues of them, which also bounds the depth.
  bool Can(const Value* value, const Node* user) {
    constexpr size_t kMaxValues = 256;
    if (value->constant() != nullptr) return true;
    if (const auto known = can_.find(value); known != can_.end()) return known->second;
    const Node* node = value->producer();
    if (node == nullptr || OnlyUser(graph_, value) != user || can_.size() >= kMaxValues) return false;
    can_[value] = false;  // counts on the way down already, which ends a recursion
    return can_[value] = CanCompute(node);
  }

  // Only for a value for which Can() is true.
  Value* Scaled(Value* value) {
    if (value->constant() != nullptr) return ScaledConstant(value);
    Value*& scaled = scaled_[value];
    if (scaled == nullptr) scaled = Computed(value->producer());
    return scaled;
  }

 private:
  bool CanCompute(const Node* node) {
    switch (node->op()) {
      case Op::kDequantize:
        return DequantizationOf(node->output()).has_value();
      case Op::kRelu:
      case Op::kClip:
        return Can(node->input(0), node);
      case Op::kAdd:
      case Op::kSub:
        return Can(node->input(0), node) && Can(node->input(1), node);
      case Op::kMul:
        return Can(node->input(0), node) && node->input(1)->constant() != nullptr;
      default:
        return false;
    }
  }

  Value* Computed(Node* node) {
    std::vector<Value*> inputs = node->inputs();
    Attributes attributes = node->attrs();
    switch (node->op()) {
      case Op::kDequantize:
      case Op::kMul:
        inputs[1] = ScaledConstant(inputs[1]);
        break;
      case Op::kClip:
        for (const char* bound : {"min", "max"}) {
          if (attributes.Has(bound))
            attributes.Set(bound, ExactNumber(factor_ * attributes.Number(bound).ToDouble()));
        }
        inputs[0] = Scaled(inputs[0]);
        break;
      default:
        for (Value*& input : inputs) input = Scaled(input);
    }
    return AddBefore(graph_, before_, node->op(), std::move(inputs), std::move(attributes));
  }

  Value* ScaledConstant(Value* value) {
    std::vector<double> numbers = ToDoubles(*value->constant());
    for (double& number : numbers) number *= factor_;
    return graph_.AddConstant(FromDoubles(value->type().dtype, value->constant()->shape(), numbers),
                              before_->name(), before_);
  }

  Graph& graph_;
  Node* before_;
  double factor_;
  std::map<const Value*, bool> can_;
  std::map<const Value*, Value*> scaled_;
};

struct Range {
  double low, high;
};

// The range of an integer type, less the zero point: numbers in it need no bound before they are rounded.
Range RangeAround(DType dtype, int64_t zero) {
  const int bits = DTypeSize(dtype) * 8;
  const double low = IsSignedInt(dtype) ? -std::ldexp(1, bits - 1) : 0;
  return {low - static_cast<double>(zero), low + std::ldexp(1, bits) - 1 - static_cast<double>(zero)};
}

// `value` without a last bound that saturation sets anyway.
Value* Unbounded(Value* value, const Range& range) {
  const Node* node = value->producer();
  if (node == nullptr) return value;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (node->op() == Op::kRelu && range.low >= 0) return node->input(0);
  if (node->op() != Op::kClip) return value;
  const double min = node->attrs().Number("min", -kInfinity).ToDouble();
  const double max = node->attrs().Number("max", kInfinity).ToDouble();
  // A bound that is less than a half from the last integer rounds to it.
  constexpr double kHalf = 0.5;
  return min < range.low + kHalf && max > range.high - kHalf ? node->input(0) : value;
}

// A sum with a constant.
struct Offset {
  const Tensor& constant;
  Value& other;
};

std::optional<Offset> OffsetOf(const Value* value) {
  const Node* sum = ProducerOf(value, Op::kAdd);
  for (int i = 0; sum != nullptr && i < 2; ++i) {
    if (sum->input(i)->constant() != nullptr) return Offset{*sum->input(i)->constant(), *sum->input(1 - i)};
  }
  return std::nullopt;
}

bool FoldScale(Graph& graph, Node* node) {
  const std::optional<double> scale = ScalarOf(node->input(1));
  const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
  Value* x = node->input(0);
  if (!scale || *scale <= 0 || !zero || node->input(1)->type().rank() != 0 ||
      x->type().dtype != DType::kF32 || x->constant() != nullptr || x->producer() == nullptr) {
    return false;
  }
  if (RoundsHalfAway(*node)) return false;
  const double factor = 1 / *scale;
  if (factor != 1) {
    Scaler scaler(graph, node, factor);
    if (!scaler.Can(x, node)) return false;
    x = scaler.Scaled(x);
  }
  const DType to = node->attrs().Type("to");
  Value* unbounded = Unbounded(x, RangeAround(to, *zero));
  std::vector<Value*> inputs = {unbounded};
  inputs.push_back(graph.AddConstant(Tensor::Scalar(DType::kF32, 1), node->name(), node));
  if (*zero != 0) {
    const auto offset = OffsetOf(unbounded);
    if (offset) {
      std::vector<double> numbers = ToDoubles(offset->constant);
      for (double& number : numbers) number += static_cast<double>(*zero);
      Value* moved =
          graph.AddConstant(FromDoubles(DType::kF32, offset->constant.shape(), numbers), node->name(), node);
      inputs[0] = AddBefore(graph, node, Op::kAdd, {&offset->other, moved});
    } else {
      inputs.push_back(node->input(2));
    }
  }
  if (inputs[0] == node->input(0)) return false;
  ReplaceNode(graph, node, AddBefore(graph, node, Op::kQuantize, std::move(inputs), {{"to", to}}));
  return true;
}

// Turns dequantize(sum) + floats that are whole multiples of the scale, as a bias is, into dequantize(sum +
// integers). A sum that contains its zero points may be large and have more digits than a float.
bool FoldBias(Graph& graph, Node* node) {
  const auto offset = OffsetOf(node->output());
  const auto product = offset ? DequantizationOf(&offset->other) : std::nullopt;
  if (!product || product->integers->type().dtype != DType::kI32 || !AllAre(product->zero, 0) ||
      OnlyUser(graph, &offset->other) != node) {
    return false;
  }
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): the analyzer forgets what the optional holds
  if (offset->other.type() != node->output()->type()) return false;
  std::optional<std::vector<double>> numbers =
      ValuesAlong(offset->constant, node->output()->type(), static_cast<int>(product->axis));
  if (!numbers) return false;
  constexpr double kMost = 1 << 30;
  for (size_t i = 0; i < numbers->size(); ++i) {
    double& number = (*numbers)[i];
    number /= product->scale[product->is_scalar ? 0 : i];
    const double whole = std::round(number);
    // A float holds only 24 bits of the original integer.
    if (!(std::abs(whole) <= kMost) || std::abs(number - whole) > 1e-2 + 0x1p-22 * std::abs(whole))
      return false;
    number = whole;
  }
  Value* integers =
      AddAlong(graph, node, DType::kI32, *numbers, node->output()->type().rank(), product->axis);
  Value* sum = AddBefore(graph, node, Op::kAdd, {product->integers, integers});
  std::vector<Value*> inputs = product->node->inputs();
  inputs[0] = sum;
  ReplaceNode(graph, node,
              AddBefore(graph, node, Op::kDequantize, std::move(inputs), product->node->attrs()));
  return true;
}

bool Fold(Graph& graph, Node* node) {
  if (node->op() == Op::kAdd) return FoldBias(graph, node);
  return node->op() == Op::kQuantize && FoldScale(graph, node);
}

}  // namespace

absl::StatusOr<bool> FoldScalesPass(Graph& graph, const PassContext&) { return ForEachNode(graph, Fold); }

}  // namespace attune

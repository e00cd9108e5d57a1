#include "opt/quantization.h"

#include <cmath>

#include "opt/rewrite.h"

namespace attune {

bool Is8Bit(DType dtype) { return dtype == DType::kI8 || dtype == DType::kU8; }

bool RoundsHalfAway(const Node& node) { return node.attrs().String("rounding", "half_even") == "half_away"; }

std::optional<double> ScalarOf(const Value* value) {
  if (value == nullptr || value->constant() == nullptr || value->constant()->num_elements() != 1)
    return std::nullopt;
  return value->constant()->ToDouble(0);
}

std::optional<std::vector<double>> ZeroPointsOf(const Node& node, int input) {
  const Value* zero = node.input(input);
  if (zero == nullptr) return std::vector<double>{0};
  return zero->constant() == nullptr ? std::nullopt : std::optional(ToDoubles(*zero->constant()));
}

std::optional<int64_t> ZeroPointOf(const Node& node, int input) {
  const std::optional<std::vector<double>> numbers = ZeroPointsOf(node, input);
  if (!numbers || numbers->size() != 1) return std::nullopt;
  return std::llround(numbers->front());
}

std::optional<Dequantization> DequantizationOf(const Value* value) {
  Node* node = ProducerOf(value, Op::kDequantize);
  if (node == nullptr || value->type().dtype != DType::kF32 || node->attrs().Int("block_size", 0) != 0 ||
      node->input(1)->constant() == nullptr)
    return std::nullopt;
  const std::optional<std::vector<double>> zero = ZeroPointsOf(*node, 2);
  if (!zero) return std::nullopt;
  Dequantization result{node,
                        node->input(0),
                        ToDoubles(*node->input(1)->constant()),
                        {},
                        node->input(1)->type().rank() == 0,
                        node->attrs().Int("axis", 1)};
  result.zero.resize(result.scale.size(), 0);
  for (size_t i = 0; i < result.zero.size(); ++i)
    result.zero[i] = std::llround((*zero)[zero->size() == 1 ? 0 : i]);
  return result;
}

Value* AddDequantize(Graph& graph, Node* before, Value* integers, std::span<const double> scale,
                     int64_t axis) {
  const Shape shape = scale.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(scale.size())};
  Value* constant = graph.AddConstant(FromDoubles(DType::kF32, shape, scale), before->name(), before);
  Attributes attributes;
  if (scale.size() > 1) attributes.Set("axis", axis);
  return AddBefore(graph, before, Op::kDequantize, {integers, constant}, std::move(attributes));
}

Value* AddAlong(Graph& graph, Node* before, DType dtype, std::span<const double> values, int rank,
                int64_t axis) {
  Shape shape;
  if (values.size() > 1) {
    shape.assign(static_cast<size_t>(rank - axis), 1);
    shape[0] = static_cast<int64_t>(values.size());
  }
  return graph.AddConstant(FromDoubles(dtype, shape, values), before->name(), before);
}

}  // namespace attune

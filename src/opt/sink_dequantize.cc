// Problem: a quantized model has floats between a dequantization and the next quantization, even where data
// only moves. That takes four times the memory, and hides from an operator what it needs to see of its
// operands.
//
// Idea: an operator that moves or selects elements does the same to the integers that stand for them. A
// dequantization moves below such an operator, and ends at an operator that computes, or at a quantization
// with the same parameters, which it cancels. Unlike a transposition it moves for each user: it costs
// nothing where it is fused.
#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/node_rules.h"
#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// The axis of the result that `axis` of the first operand becomes, if it stays whole.
std::optional<int64_t> AxisOfResult(const Node& node, int64_t axis) {
  if (node.op() == Op::kTranspose) {
    const Ints& perm = node.attrs().IntList("perm");
    return std::ranges::find(perm, axis) - perm.begin();
  }
  if (node.op() != Op::kReshape || !node.output()->type().is_static()) return std::nullopt;
  const Shape from = node.input(0)->type().shape(), to = node.output()->type().shape();
  const auto before = [](const Shape& shape, int64_t end) {
    return std::accumulate(shape.begin(), shape.begin() + end, int64_t{1}, std::multiplies<>());
  };
  for (int64_t i = 0; i < std::ssize(to); ++i) {
    if (to[i] == from[axis] && before(to, i) == before(from, axis)) return i;
  }
  return std::nullopt;
}

bool IsAlike(const Dequantization& a, const Dequantization& b) {
  return a.integers->type().dtype == b.integers->type().dtype && a.scale == b.scale && a.zero == b.zero;
}

// The dequantization of all data inputs, which must be alike; nothing where an input has none.
std::optional<Dequantization> CommonDequantization(const Node& node, int data_inputs) {
  std::optional<Dequantization> common = DequantizationOf(node.input(0));
  if (!common || !Is8Bit(common->integers->type().dtype)) return std::nullopt;
  for (int i = 1; i < data_inputs; ++i) {
    const std::optional<Dequantization> other = DequantizationOf(node.input(i));
    if (!common->is_scalar || !other || !IsAlike(*common, *other)) return std::nullopt;
  }
  return common;
}

bool Sink(Graph& graph, Node* node) {
  const int data_inputs = NumMovedInputs(*node);
  if (data_inputs == 0) return false;
  const std::optional<Dequantization> common = CommonDequantization(*node, data_inputs);
  if (!common) return false;
  std::optional<int64_t> axis = common->axis;
  if (!common->is_scalar) axis = AxisOfResult(*node, *axis);
  if (!axis) return false;
  std::vector<Value*> inputs = node->inputs();
  for (int i = 0; i < data_inputs; ++i) inputs[i] = inputs[i]->producer()->input(0);
  Attributes attributes = node->attrs();
  if (node->op() == Op::kPad) attributes.Set("value", ExactNumber(common->zero[0]));
  Value* moved = AddBefore(graph, node, node->op(), std::move(inputs), std::move(attributes));
  if (moved == nullptr) return false;
  std::vector<Value*> operands = common->node->inputs();
  operands[0] = moved;
  Attributes parameters = common->node->attrs();
  if (!common->is_scalar) parameters.Set("axis", *axis);
  ReplaceNodeAndProducers(
      graph, node, Op::kDequantize,
      AddBefore(graph, node, Op::kDequantize, std::move(operands), std::move(parameters)));
  return true;
}

// quantize(dequantize(x)) with the same parameters: x.
bool Cancel(Graph& graph, Node* node) {
  if (node->op() != Op::kQuantize) return false;
  const std::optional<Dequantization> inner = DequantizationOf(node->input(0));
  const std::optional<double> scale = ScalarOf(node->input(1));
  const std::optional<int64_t> zero = ZeroPointOf(*node, 2);
  if (!inner || !inner->is_scalar || inner->integers->type() != node->output()->type() ||
      scale != inner->scale[0] || zero != inner->zero[0]) {
    return false;
  }
  ReplaceNodeAndProducers(graph, node, Op::kDequantize, inner->integers);
  return true;
}

}  // namespace

absl::StatusOr<bool> SinkDequantizePass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, [](Graph& g, Node* node) { return Cancel(g, node) || Sink(g, node); });
}

}  // namespace attune

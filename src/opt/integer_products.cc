// Problem: a model describes a layer in floats, whose quantized operands are dequantized first. Processors
// multiply integers of 8 bits four times as fast.
//
// Idea: Σ s_x (x - z_x) s_w (w - z_w) = s_x s_w Σ (x - z_x)(w - z_w), a sum of integers that is exact. So a
// convolution or matrix product of dequantized operands becomes one of integers, dequantized afterwards by
// the product of both scales, which is a number for each output channel where the weights' scale is. No
// rounding is added; fusion brings the new dequantization, the operators after it and the next quantization
// into the kernel of the product, so that no float is stored.
#include <optional>

#include "opt/passes.h"
#include "opt/quantization.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// The scale of the product, of one number or one for each column or channel of the right operand.
std::vector<double> ProductScale(const Dequantization& left, const Dequantization& right) {
  std::vector<double> scale = right.scale;
  for (double& factor : scale) factor *= left.scale[0];
  return scale;
}

Value* ZeroPoint(const Dequantization& operand) { return operand.node->input(2); }

// (x, w, bias?)
Value* IntegerConv(Graph& graph, Node* conv, const Dequantization& x, const Dequantization& w) {
  if (!w.is_scalar && w.axis != 0) return nullptr;
  Value* sum = AddBefore(graph, conv, Op::kConvInteger, {x.integers, w.integers, ZeroPoint(x), ZeroPoint(w)},
                         conv->attrs());
  if (sum == nullptr) return nullptr;
  Value* result = AddDequantize(graph, conv, sum, ProductScale(x, w), 1);
  if (conv->input(2) == nullptr) return result;
  Shape shape(static_cast<size_t>(sum->type().rank() - 1), 1);
  shape[0] = conv->input(2)->type().dims[0].size;
  Value* bias = AddBefore(graph, conv, Op::kReshape, {conv->input(2)}, {{"shape", Ints(shape)}});
  return AddBefore(graph, conv, Op::kAdd, {result, bias});
}

Value* IntegerMatMul(Graph& graph, Node* product, const Dequantization& a, const Dequantization& b) {
  const int rank = b.integers->type().rank();
  const int64_t columns = product->attrs().Bool("transpose_b") ? rank - 2 : rank - 1;
  // Zero points are for all rows, or all columns.
  if (!b.is_scalar && (b.axis != columns || rank != 2)) return nullptr;
  Value* sum = AddBefore(graph, product, Op::kMatMulInteger,
                         {a.integers, b.integers, ZeroPoint(a), ZeroPoint(b)}, product->attrs());
  if (sum == nullptr) return nullptr;
  return AddDequantize(graph, product, sum, ProductScale(a, b), sum->type().rank() - 1);
}

// Turns requantize(sum, factor) into quantize(dequantize(sum)), so that other passes see both. Not in fixed
// point, where the product is rounded twice.
bool SplitRequantize(Graph& graph, Node* node) {
  const Tensor* factor = node->input(1)->constant();
  if (factor == nullptr || factor->dtype() != DType::kF32) return false;
  Attributes attributes;
  if (factor->rank() > 0) attributes.Set("axis", node->attrs().Int("axis", 1));
  Value* product = AddBefore(graph, node, Op::kDequantize, {node->input(0), node->input(1)}, attributes);
  Value* scale = graph.AddConstant(Tensor::Scalar(DType::kF32, 1), node->name(), node);
  std::vector<Value*> inputs = {product, scale};
  if (node->input(2) != nullptr) inputs.push_back(node->input(2));
  ReplaceNode(graph, node,
              AddBefore(graph, node, Op::kQuantize, std::move(inputs),
                        {{"to", node->attrs().Type("to")},
                         {"rounding", node->attrs().String("rounding", "half_even")}}));
  return true;
}

bool MultiplyIntegers(Graph& graph, Node* node) {
  if (node->op() != Op::kConv && node->op() != Op::kMatMul) return false;
  const std::optional<Dequantization> left = DequantizationOf(node->input(0)),
                                      right = DequantizationOf(node->input(1));
  if (!left || !right || !left->is_scalar || !Is8Bit(left->integers->type().dtype) ||
      !Is8Bit(right->integers->type().dtype)) {
    return false;
  }
  Value* result = node->op() == Op::kConv ? IntegerConv(graph, node, *left, *right)
                                          : IntegerMatMul(graph, node, *left, *right);
  if (result == nullptr) return false;
  ReplaceNodeAndProducers(graph, node, Op::kDequantize, result);
  return true;
}

}  // namespace

absl::StatusOr<bool> IntegerProductsPass(Graph& graph, const PassContext& context) {
  bool changed = ForEachNode(graph, [](Graph& g, Node* node) {
    return node->op() == Op::kRequantize ? SplitRequantize(g, node) : MultiplyIntegers(g, node);
  });
  changed |= ForEachNode(graph, [&](Graph& g, Node* node) {
    if (node->op() != Op::kDequantize) return false;
    if (g.NumUses(node->output()) == 0) {
      g.Erase(node);
      return true;
    }
    // Weights whose products stay in floats are floats from now on.
    return HasConstantInputs(*node) && FoldNode(g, node, context.evaluate).ok();
  });
  return changed;
}

}  // namespace attune

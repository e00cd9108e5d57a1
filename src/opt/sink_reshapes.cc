// A reshape between a kernel and the elementwise operators after it keeps them from being one kernel. It
// moves behind them where they work on the original shape as well: their other operands are reshaped alike
// or are constants, of one element, along a last axis that the reshape keeps, or of any shape where the
// reshape only adds or removes axes of one element. A residual operand that is added to a contraction's
// result is reshaped back, which costs nothing. A reduction of a row [N,C,L] that was an image [N,C,1,L]
// works on the image itself, whose channels may be in blocks.
#include <optional>

#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// The type that the node's reshaped operands have before their reshapes. nullptr where the types differ,
// where a reshape has other uses, or where there is no reshape.
const TensorType* CommonOriginal(const Graph& graph, const Node& node) {
  const TensorType* common = nullptr;
  for (const Value* input : node.inputs()) {
    const Node* reshape = ProducerOf(input, Op::kReshape);
    if (reshape == nullptr) continue;
    const TensorType& original = reshape->input(0)->type();
    if (OnlyUser(graph, input) != &node || input->type().dims != node.output()->type().dims ||
        !original.is_static() || (common != nullptr && common->dims != original.dims)) {
      return nullptr;
    }
    common = &original;
  }
  return common;
}

// Whether `value` is a contraction's result, or that of elementwise operators which will be its epilogue.
bool IsOfContraction(const Graph& graph, const Value* value) {
  constexpr int kMaxEpilogue = 8;
  for (int i = 0; i < kMaxEpilogue; ++i) {
    const Node* node = value->producer();
    if (node == nullptr || OnlyUser(graph, value) == nullptr) return false;
    if (GetOpInfo(node->op()).category == OpCategory::kContraction) return true;
    if (!IsElementwise(node->op())) return false;
    value = node->input(0);
  }
  return false;
}

// The shape in which `constant`, which broadcasts to `from`, broadcasts to `to` in the same way, if the two
// differ in axes of one element alone.
std::optional<Shape> SqueezedShape(const Tensor& constant, const Shape& from, const Shape& to) {
  const size_t missing = from.size() - static_cast<size_t>(constant.rank());
  Shape shape(to.size(), 1);
  size_t axis = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    while (axis < to.size() && to[axis] == 1) ++axis;
    if (axis == to.size() || to[axis] != from[i]) return std::nullopt;
    if (i >= missing) shape[axis] = constant.shape()[i - missing];
    ++axis;
  }
  return shape;
}

Value* OriginalOperand(Graph& graph, Node* node, Value* input, const TensorType& original,
                       bool reshape_back) {
  if (Node* reshape = ProducerOf(input, Op::kReshape)) return reshape->input(0);
  const Tensor* constant = input->constant();
  if (constant == nullptr) {
    const bool fits = reshape_back && input->type().dims == node->output()->type().dims;
    return fits ? AddBefore(graph, node, Op::kReshape, {input}, {{"shape", original.shape()}}) : nullptr;
  }
  if (constant->num_elements() == 1) {
    return constant->rank() == 0 ? input : graph.AddConstant(constant->Reshaped({}), node->name(), node);
  }
  if (const std::optional<Shape> shape =
          SqueezedShape(*constant, node->output()->type().shape(), original.shape())) {
    return graph.AddConstant(constant->Reshaped(*shape), node->name(), node);
  }
  // Along the last axis, which must be the same one before and after.
  const TensorType& type = node->output()->type();
  const int64_t size = constant->num_elements();
  if (constant->rank() == 0 || constant->shape().back() != size || original.rank() == 0 || type.rank() == 0 ||
      original.dims.back().size != size || type.dims.back().size != size) {
    return nullptr;
  }
  return graph.AddConstant(constant->Reshaped({size}), node->name(), node);
}

// A reduction along the row that a reshape has taken out of an image.
bool SinkBehindReduction(Graph& graph, Node* node) {
  if (GetOpInfo(node->op()).category != OpCategory::kReduction || !node->attrs().Has("axes")) return false;
  const Node* reshape = ProducerOf(node->input(0), Op::kReshape);
  if (reshape == nullptr || node->num_outputs() != 1 || !node->output()->type().is_static()) return false;
  const TensorType &image = reshape->input(0)->type(), &row = reshape->output()->type();
  if (!image.is_static() || image.rank() != 4 || image.dims[2].size != 1 || row.rank() != 3 ||
      row.dims[0] != image.dims[0] || row.dims[1] != image.dims[1] ||
      node->attrs().IntList("axes") != Ints{2})
    return false;
  Attributes attributes = node->attrs();
  attributes.Set("axes", Ints{2, 3});
  Value* reduced = AddBefore(graph, node, node->op(), {reshape->input(0)}, std::move(attributes));
  if (reduced == nullptr) return false;
  const Shape shape = node->output()->type().shape();
  if (reduced->type().shape() != shape)
    reduced = AddBefore(graph, node, Op::kReshape, {reduced}, {{"shape", shape}});
  ReplaceNodeAndProducers(graph, node, Op::kReshape, reduced);
  return true;
}

bool Sink(Graph& graph, Node* node) {
  if (SinkBehindReduction(graph, node)) return true;
  if (!IsElementwise(node->op()) || node->num_inputs() == 0) return false;
  const TensorType* original = CommonOriginal(graph, *node);
  if (original == nullptr) return false;
  bool reshape_back = false;
  for (const Value* input : node->inputs()) {
    const Node* reshape = ProducerOf(input, Op::kReshape);
    reshape_back |= reshape != nullptr && IsOfContraction(graph, reshape->input(0));
    if (reshape == nullptr && IsOfContraction(graph, input)) return false;
  }
  std::vector<Value*> operands;
  for (Value* input : node->inputs()) {
    operands.push_back(OriginalOperand(graph, node, input, *original, reshape_back));
    if (operands.back() == nullptr) return false;
  }
  Value* moved = AddBefore(graph, node, node->op(), std::move(operands), node->attrs());
  if (moved == nullptr) return false;
  Value* result = AddBefore(graph, node, Op::kReshape, {moved}, {{"shape", node->output()->type().shape()}});
  if (result == nullptr || result->type() != node->output()->type()) return false;
  ReplaceNodeAndProducers(graph, node, Op::kReshape, result);
  return true;
}

}  // namespace

absl::StatusOr<bool> SinkReshapesPass(Graph& graph, const PassContext&) { return ForEachNode(graph, Sink); }

}  // namespace attune

// Problem: models converted from channels-last formats wrap their convolutions in transpositions, which
// cancel only if they meet.
//
// Idea: a transposition of an operand becomes one of the result, wherever the operator in between can work
// on the other axes as well. It moves down until it meets its inverse, or an operator that it cannot pass.
// Nothing is transposed twice on the way: an operand's transposition moves only if nothing else uses it, or
// nothing but elementwise operators that it passes too, which mostly meet again (a PReLU is three of them).
// Constant operands are transposed now (by constant folding). All operands must be transposed alike.
#include <algorithm>
#include <numeric>
#include <optional>

#include "opt/fusion_groups.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

Ints Inverse(const Ints& perm) {
  Ints inverse(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = static_cast<int64_t>(i);
  return inverse;
}

// list[i] belongs to axis i of the transposed tensor; the result's entries belong to the original's axes.
Ints ToOriginalAxes(const Ints& list, const Ints& perm) {
  Ints result(list.size());
  for (size_t i = 0; i < perm.size(); ++i) result[perm[i]] = list[i];
  return result;
}

// How many elementwise operators in a row may stand between a transposition and the operator where its uses
// meet again.
constexpr int kMaxApart = 3;

// Whether all operands of an elementwise operator are transposed by `perm`, constants, single elements, or
// results of such operators, at most `apart` of them one after the other.
bool IsElementwiseBehind(const Node& node, const Ints& perm, int apart) {
  if (!IsElementwise(node.op()) || node.output()->type().rank() != static_cast<int>(perm.size()))
    return false;
  return std::ranges::all_of(node.inputs(), [&](const Value* input) {
    if (input->constant() != nullptr || (input->type().is_static() && input->type().num_elements() == 1))
      return true;
    const Node* producer = input->producer();
    if (producer == nullptr) return false;
    if (producer->op() == Op::kTranspose) return producer->attrs().IntList("perm") == perm;
    return apart > 0 && IsElementwiseBehind(*producer, perm, apart - 1);
  });
}

// Whether nothing needs a transposed value any more once `node`, and users like it, take the original.
bool MovesFrom(const Graph& graph, const Value* transposed, const Node& node, const Ints& perm) {
  if (OnlyUser(graph, transposed) == &node) return true;
  return !graph.IsOutput(transposed) && std::ranges::all_of(transposed->users(), [&](const Node* user) {
    return IsElementwiseBehind(*user, perm, kMaxApart);
  });
}

// The permutation of the transpositions that make operands of `node` and are not needed elsewhere, if they
// are all the same.
std::optional<Ints> CommonPermutation(const Graph& graph, const Node& node) {
  std::optional<Ints> common;
  for (const Value* input : node.inputs()) {
    const Node* transpose = ProducerOf(input, Op::kTranspose);
    if (transpose == nullptr) continue;
    const Ints& perm = transpose->attrs().IntList("perm");
    if (!MovesFrom(graph, input, node, perm) || (common && *common != perm)) return std::nullopt;
    common = perm;
  }
  return common;
}

// `input` as an operand on the original axes: what was transposed, a constant transposed back, or a value
// of one element. nullptr where there is none.
Value* OriginalOperand(Graph& graph, Node* node, Value* input, const Ints& perm) {
  if (Node* transpose = ProducerOf(input, Op::kTranspose)) return transpose->input(0);
  const int rank = static_cast<int>(perm.size());
  const TensorType& type = input->type();
  if (type.rank() > rank || !type.is_static()) return nullptr;
  if (type.num_elements() == 1) return input;
  if (input->constant() == nullptr) return nullptr;
  Shape shape(static_cast<size_t>(rank - type.rank()), 1);
  for (const Dim& dim : type.dims) shape.push_back(dim.size);
  Value* reshaped = graph.AddConstant(input->constant()->Reshaped(shape), input->producer()->name(), node);
  return AddBefore(graph, node, Op::kTranspose, {reshaped}, {{"perm", Inverse(perm)}});
}

// The same operator on the original axes; its inputs are operands that OriginalOperand() gives.
std::optional<Attributes> OriginalAttributes(const Node& node, const Ints& perm) {
  Attributes attributes = node.attrs();
  switch (node.op()) {
    case Op::kConcat:
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      attributes.Set("axis", perm[node.attrs().Int("axis")]);
      return attributes;
    case Op::kSlice:
      for (const char* name : {"starts", "sizes", "steps"}) {
        attributes.Set(name, ToOriginalAxes(node.attrs().IntList(name), perm));
      }
      return attributes;
    case Op::kPad: {
      const Ints& pads = node.attrs().IntList("pads");
      const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(perm.size());
      Ints moved = ToOriginalAxes(Ints(pads.begin(), middle), perm);
      const Ints ends = ToOriginalAxes(Ints(middle, pads.end()), perm);
      moved.insert(moved.end(), ends.begin(), ends.end());
      attributes.Set("pads", moved);
      return attributes;
    }
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceProd:
    case Op::kReduceMax:
    case Op::kReduceMin: {
      Ints axes;
      for (int64_t axis : node.attrs().IntList("axes")) axes.push_back(perm[axis]);
      std::sort(axes.begin(), axes.end());
      attributes.Set("axes", axes);
      return attributes;
    }
    case Op::kQuantize:
    case Op::kDequantize:
    case Op::kRequantize:
      if (attributes.Int("block_size", 0) != 0) return std::nullopt;
      if (node.input(1)->type().rank() > 0) attributes.Set("axis", perm[node.attrs().Int("axis", 1)]);
      return attributes;
    default:
      if (!IsElementwise(node.op())) return std::nullopt;
      return attributes;
  }
}

// How the result is transposed: as the operand was, without the axes that a reduction removed.
Ints ResultPermutation(const Node& node, const Ints& perm) {
  if (GetOpInfo(node.op()).category != OpCategory::kReduction || node.attrs().Int("keepdims", 1) != 0)
    return perm;
  const Ints& axes = node.attrs().IntList("axes");
  const auto is_removed = [&](int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  Ints kept;  // original axes, in the result's order
  for (size_t i = 0; i < perm.size(); ++i) {
    if (!is_removed(static_cast<int64_t>(i))) kept.push_back(perm[i]);
  }
  Ints result;  // each as its position among the kept ones
  for (int64_t axis : kept)
    result.push_back(std::count_if(kept.begin(), kept.end(), [&](int64_t other) { return other < axis; }));
  return result;
}

bool Sink(Graph& graph, Node* node) {
  if (node->num_outputs() != 1 || node->op() == Op::kConstant) return false;
  const std::optional<Ints> perm = CommonPermutation(graph, *node);
  if (!perm ||
      (IsElementwise(node->op()) && node->output()->type().rank() != static_cast<int>(perm->size()))) {
    return false;
  }
  const std::optional<Attributes> attributes = OriginalAttributes(*node, *perm);
  if (!attributes) return false;
  std::vector<Value*> operands;
  for (int i = 0; i < node->num_inputs(); ++i) {
    Value* input = node->input(i);
    // A scale and a zero point go with the axis that the attributes name.
    const bool is_parameter = i > 0 && GetOpInfo(node->op()).category == OpCategory::kQuantized;
    operands.push_back(input == nullptr || is_parameter ? input : OriginalOperand(graph, node, input, *perm));
    if (operands.back() == nullptr) return false;
  }
  Value* original = AddBefore(graph, node, node->op(), std::move(operands), *attributes);
  if (original == nullptr) return false;
  Value* result =
      AddBefore(graph, node, Op::kTranspose, {original}, {{"perm", ResultPermutation(*node, *perm)}});
  if (result == nullptr || result->type() != node->output()->type()) return false;
  ReplaceNodeAndProducers(graph, node, Op::kTranspose, result);
  return true;
}

// transpose(transpose(x)): one, or none.
bool Cancel(Graph& graph, Node* node) {
  Node* inner = node->op() == Op::kTranspose ? ProducerOf(node->input(0), Op::kTranspose) : nullptr;
  if (inner == nullptr) return false;
  Ints perm;
  for (int64_t axis : node->attrs().IntList("perm")) perm.push_back(inner->attrs().IntList("perm")[axis]);
  Ints identity(perm.size());
  std::iota(identity.begin(), identity.end(), 0);
  Value* x = inner->input(0);
  ReplaceNode(graph, node,
              perm == identity ? x : AddBefore(graph, node, Op::kTranspose, {x}, {{"perm", perm}}));
  return true;
}

}  // namespace

// In graph order a transposition moves as far as it can in one walk.
absl::StatusOr<bool> SinkTransposesPass(Graph& graph, const PassContext&) {
  return ForEachNode(graph, [](Graph& g, Node* node) { return Cancel(g, node) || Sink(g, node); });
}

}  // namespace attune

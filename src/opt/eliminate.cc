// Operators that turn out to do nothing, or nothing but change the shape.
#include <algorithm>
#include <limits>

#include "graph/infer.h"
#include "opt/match.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// Whether every value of `from` is one of `to`.
bool IsLossless(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::kBool) return true;
  if (to == DType::kBool) return false;
  const int from_bits = 8 * DTypeSize(from);
  const int to_bits = 8 * DTypeSize(to);
  if (IsFloat(from)) {
    return to == DType::kF64 || (to == DType::kF32 && from != DType::kF64);
  }
  const int value_bits = from_bits - (IsSignedInt(from) ? 1 : 0);
  if (IsFloat(to)) {
    const int significand = to == DType::kF64 ? 53 : to == DType::kF32 ? 24 : to == DType::kF16 ? 11 : 8;
    return value_bits <= significand;
  }
  if (IsSignedInt(from) && !IsSignedInt(to)) return false;
  return value_bits <= to_bits - (IsSignedInt(to) ? 1 : 0);
}

// cast(cast(x)) without the inner cast, where it changes no value. An integer that goes through a float
// to a narrower integer would saturate, and wrap without the float.
Value* SkipInnerCast(Graph& graph, Node* node) {
  Node* inner = ProducerOf(node->input(0), Op::kCast);
  if (inner == nullptr) return nullptr;
  const DType from = inner->input(0)->type().dtype;
  const DType middle = inner->output()->type().dtype;
  const DType to = node->output()->type().dtype;
  if (!IsLossless(from, middle)) return nullptr;
  if (!IsFloat(from) && IsFloat(middle) && !IsFloat(to) && !IsLossless(from, to)) return nullptr;
  if (from == to) return inner->input(0);
  return AddBefore(graph, node, Op::kCast, {inner->input(0)}, {{"to", to}});
}

// A transposition that only moves axes of one element changes the shape alone.
Value* TransposeAsReshape(Graph& graph, Node* node) {
  const TensorType& from = node->input(0)->type();
  if (!from.is_static()) return nullptr;
  int64_t last = -1;
  for (int64_t axis : node->attrs().IntList("perm")) {
    if (from.dims[axis].size == 1) continue;
    if (axis < last) return nullptr;
    last = axis;
  }
  if (from == node->output()->type()) return node->input(0);
  return AddBefore(graph, node, Op::kReshape, {node->input(0)}, {{"shape", node->output()->type().shape()}});
}

Value* SliceOfSlice(Graph& graph, Node* node) {
  Node* inner = ProducerOf(node->input(0), Op::kSlice);
  if (inner == nullptr) return nullptr;
  Ints starts = inner->attrs().IntList("starts");
  Ints steps = inner->attrs().IntList("steps");
  for (size_t i = 0; i < starts.size(); ++i) {
    starts[i] += node->attrs().IntList("starts")[i] * steps[i];
    steps[i] *= node->attrs().IntList("steps")[i];
  }
  return AddBefore(graph, node, Op::kSlice, {inner->input(0)},
                   {{"starts", starts}, {"sizes", node->attrs().IntList("sizes")}, {"steps", steps}});
}

// A slice that takes from one operand of a concatenation takes it from there.
Value* SliceOfConcat(Graph& graph, Node* node) {
  Node* concat = ProducerOf(node->input(0), Op::kConcat);
  if (concat == nullptr || !node->input(0)->type().is_static()) return nullptr;
  const int64_t axis = concat->attrs().Int("axis");
  Ints starts = node->attrs().IntList("starts");
  const Ints& sizes = node->attrs().IntList("sizes");
  const Ints& steps = node->attrs().IntList("steps");
  if (sizes[axis] == 0) return nullptr;
  const int64_t ends[] = {starts[axis], starts[axis] + (sizes[axis] - 1) * steps[axis]};
  const auto [low, high] = std::minmax(ends[0], ends[1]);
  int64_t begin = 0;
  for (Value* operand : concat->inputs()) {
    const int64_t size = operand->type().dims[axis].size;
    if (low >= begin && high < begin + size) {
      starts[axis] -= begin;
      return AddBefore(graph, node, Op::kSlice, {operand},
                       {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
    }
    begin += size;
  }
  return nullptr;
}

// Operands of no elements add nothing.
Value* SmallerConcat(Graph& graph, Node* node) {
  const int64_t axis = node->attrs().Int("axis");
  std::vector<Value*> operands;
  for (Value* operand : node->inputs()) {
    const Dim& dim = operand->type().dims[axis];
    if (!dim.is_constant() || dim.size > 0) operands.push_back(operand);
  }
  if (operands.empty()) return node->input(0);
  if (operands.size() == 1) return operands[0];
  if (static_cast<int>(operands.size()) == node->num_inputs()) return nullptr;
  return AddBefore(graph, node, Op::kConcat, operands, node->attrs());
}

Value* ReductionOfNothing(Graph& graph, Node* node) {
  const TensorType& from = node->input(0)->type();
  for (int64_t axis : node->attrs().IntList("axes")) {
    if (from.dims[axis] != Dim(1)) return nullptr;
  }
  if (from == node->output()->type()) return node->input(0);
  return AddBefore(graph, node, Op::kReshape, {node->input(0)}, {{"shape", node->output()->type().shape()}});
}

// The axes that a reduction removed and a reshape restores are kept instead.
Value* KeepReducedAxes(Graph& graph, Node* node) {
  const Node* reduction = node->input(0)->producer();
  if (reduction == nullptr || GetOpInfo(reduction->op()).category != OpCategory::kReduction) return nullptr;
  if (reduction->attrs().Int("keepdims", 1) != 0) return nullptr;
  Shape kept = reduction->input(0)->type().shape();
  const Ints axes = reduction->attrs().Has("axes") ? reduction->attrs().IntList("axes")
                                                   : Ints{reduction->attrs().Int("axis")};
  for (int64_t axis : axes) kept[axis] = 1;
  if (!node->output()->type().is_static() || kept != node->output()->type().shape()) return nullptr;
  Attributes attributes = reduction->attrs();
  attributes.Set("keepdims", int64_t{1});
  return AddBefore(graph, node, reduction->op(), {reduction->input(0)}, std::move(attributes));
}

bool IsUnitWindow(const Node& node) {
  return node.num_outputs() == 1 && AllAre(node.attrs().IntList("kernel"), 1) &&
         AllAre(node.attrs().IntList("strides", {}), 1) && AllAre(node.attrs().IntList("pads", {}), 0);
}

bool IsUnitResize(const Node& node) {
  const Floats& scales = node.attrs().FloatList("scales");
  return std::all_of(scales.begin(), scales.end(), [](double scale) { return scale == 1; }) &&
         node.attrs().String("coordinate_mode", "half_pixel") != "tf_crop_and_resize";
}

Value* DecidedWhere(Node* node) {
  const Tensor* condition = node->input(0)->constant();
  if (condition == nullptr || condition->num_elements() == 0) return nullptr;
  const std::span<const uint8_t> bits = condition->as<uint8_t>();
  if (std::all_of(bits.begin(), bits.end(), [](uint8_t bit) { return bit != 0; })) return node->input(1);
  if (std::all_of(bits.begin(), bits.end(), [](uint8_t bit) { return bit == 0; })) return node->input(2);
  return nullptr;
}

// Elementwise operators broadcast by themselves: takes the operand before a broadcast where the result
// keeps its shape. Whether anything changed.
bool SkipBroadcasts(Node* node) {
  if (node->num_inputs() < 2 || !IsElementwise(node->op())) return false;
  bool changed = false;
  for (int i = 0; i < node->num_inputs(); ++i) {
    Node* broadcast = ProducerOf(node->input(i), Op::kBroadcast);
    if (broadcast == nullptr) continue;
    std::vector<Dim> dims = broadcast->input(0)->type().dims;
    bool fits = true;
    for (int j = 0; j < node->num_inputs() && fits; ++j) {
      if (j == i) continue;
      absl::StatusOr<std::vector<Dim>> merged = BroadcastDims(dims, node->input(j)->type().dims);
      fits = merged.ok();
      if (fits) dims = *std::move(merged);
    }
    if (!fits || dims != node->output()->type().dims) continue;
    node->SetInput(i, broadcast->input(0));
    changed = true;
  }
  return changed;
}

// A value that can replace `node`, made before it if need be, or nullptr.
Value* Replacement(Graph& graph, Node* node) {
  Value* input = node->input(0);
  switch (node->op()) {
    case Op::kReshape:
      return input->type() == node->output()->type() ? input : KeepReducedAxes(graph, node);
    case Op::kIdentity:
    case Op::kBroadcast:
    case Op::kPad:
      return input;  // where the type stays the same: nothing was added, and every element kept its place
    case Op::kCast:
      return input->type() == node->output()->type() ? input : SkipInnerCast(graph, node);
    case Op::kTranspose:
      return TransposeAsReshape(graph, node);
    case Op::kSlice:
      if (AllAre(node->attrs().IntList("steps"), 1) && input->type() == node->output()->type()) return input;
      if (Value* outer = SliceOfSlice(graph, node)) return outer;
      return SliceOfConcat(graph, node);
    case Op::kConcat:
      return SmallerConcat(graph, node);
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceProd:
    case Op::kReduceMax:
    case Op::kReduceMin:
      return ReductionOfNothing(graph, node);
    case Op::kMaxPool:
    case Op::kAvgPool:
      return IsUnitWindow(*node) ? input : nullptr;
    case Op::kResize:
      return IsUnitResize(*node) ? input : nullptr;
    case Op::kDepthToSpace:
    case Op::kSpaceToDepth:
      return node->attrs().Int("block") == 1 ? input : nullptr;
    case Op::kClip:
      return node->attrs().Has("min") || node->attrs().Has("max") ? nullptr : input;
    case Op::kLeakyRelu:
      if (node->attrs().Float("alpha") == 1) return input;
      return node->attrs().Float("alpha") == 0 ? AddBefore(graph, node, Op::kRelu, {input}) : nullptr;
    case Op::kMax:
      for (int i = 0; i < 2; ++i) {
        if (IsConstantOf(node->input(i), -std::numeric_limits<double>::infinity())) return node->input(1 - i);
      }
      return nullptr;
    case Op::kWhere:
      return DecidedWhere(node);
    default:
      return nullptr;
  }
}

}  // namespace

absl::StatusOr<bool> EliminatePass(Graph& graph, const PassContext&) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    changed |= SkipBroadcasts(node);
    Value* replacement = Replacement(graph, node);
    if (replacement == nullptr || replacement->type() != node->output()->type()) continue;
    ReplaceNode(graph, node, replacement);
    changed = true;
  }
  return changed;
}

}  // namespace attune

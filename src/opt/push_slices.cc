// Attention as some frameworks export it stacks query, key and value, transposes the whole and takes the
// three out again. Slices that go first leave only small transpositions, often of nothing but shapes.
#include <algorithm>
#include <optional>

#include "base/status.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// How many elementwise operators a gather passes.
constexpr int kMaxWidening = 4;

struct Progression {
  int64_t start, size, step;
};

// Constant indices into an axis of `extent` elements as a slice takes them: one by one in equal steps.
std::optional<Progression> AsProgression(const Tensor& indices, int64_t extent) {
  if (indices.rank() > 1 || indices.num_elements() == 0) return std::nullopt;
  std::vector<int64_t> list = indices.ToInts();
  for (int64_t& index : list) {
    if (index < 0) index += extent;
    if (index < 0 || index >= extent) return std::nullopt;
  }
  const int64_t step = list.size() > 1 ? list[1] - list[0] : 1;
  for (size_t i = 1; i < list.size(); ++i) {
    if (step == 0 || list[i] - list[i - 1] != step) return std::nullopt;
  }
  return Progression{list[0], static_cast<int64_t>(list.size()), step};
}

// gather by a constant, as a slice; a scalar index removes the axis.
bool GatherToSlice(Graph& graph, Node* node) {
  const Tensor* indices = node->op() == Op::kGather ? node->input(1)->constant() : nullptr;
  if (indices == nullptr || !node->input(0)->type().is_static()) return false;
  Shape sizes = node->input(0)->type().shape();
  const size_t axis = static_cast<size_t>(node->attrs().Int("axis"));
  const std::optional<Progression> taken = AsProgression(*indices, sizes[axis]);
  if (!taken) return false;
  Ints starts(sizes.size(), 0);
  Ints steps(sizes.size(), 1);
  starts[axis] = taken->start;
  sizes[axis] = taken->size;
  steps[axis] = taken->step;
  Value* slice = AddBefore(graph, node, Op::kSlice, {node->input(0)},
                           {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
  if (indices->rank() == 0) {
    slice = AddBefore(graph, node, Op::kReshape, {slice}, {{"shape", node->output()->type().shape()}});
  }
  ReplaceNode(graph, node, slice);
  return true;
}

// gather(f(x, s), indices) as f(gather(x, indices), gather(s, indices)), for an elementwise f whose operands
// all have the gathered axis, or one element: a table that is stored in few bits is widened row by row.
bool GatherBeforeElementwise(Graph& graph, Node* node) {
  Node* table = node->op() == Op::kGather ? node->input(0)->producer() : nullptr;
  if (table == nullptr || !IsElementwise(table->op()) || OnlyUser(graph, table->output()) != node ||
      node->output()->type().num_elements() >= table->output()->type().num_elements()) {
    return false;
  }
  const TensorType& type = table->output()->type();
  const int64_t axis = node->attrs().Int("axis");
  std::vector<Value*> operands;
  for (Value* input : table->inputs()) {
    const bool has_axis = input->type().rank() == type.rank() && input->type().dims[axis] == type.dims[axis];
    if (has_axis) {
      operands.push_back(AddBefore(graph, node, Op::kGather, {input, node->input(1)}, node->attrs()));
    } else if (input->constant() != nullptr && input->constant()->num_elements() == 1) {
      operands.push_back(graph.AddConstant(input->constant()->Reshaped({}), input->producer()->name(), node));
    } else {
      return false;
    }
  }
  ReplaceNode(graph, node, AddBefore(graph, node, table->op(), std::move(operands), table->attrs()));
  graph.Erase(table);
  return true;
}

// slice(reshape(x)) as reshape(slice(x)), where the reshape only adds or removes axes of one element. The
// other axes then correspond in order.
bool SliceBeforeSqueeze(Graph& graph, Node* node) {
  const Node* reshape = node->op() == Op::kSlice ? ProducerOf(node->input(0), Op::kReshape) : nullptr;
  if (reshape == nullptr || !node->input(0)->type().is_static()) return false;
  const Shape from = reshape->input(0)->type().shape();
  const Shape to = node->input(0)->type().shape();
  Ints starts(from.size(), 0);
  Ints sizes(from.size(), 1);
  Ints steps(from.size(), 1);
  size_t axis = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1) {
      if (node->attrs().IntList("sizes")[i] != 1) return false;
      continue;
    }
    while (axis < from.size() && from[axis] == 1) ++axis;
    if (axis == from.size() || from[axis] != to[i]) return false;
    starts[axis] = node->attrs().IntList("starts")[i];
    sizes[axis] = node->attrs().IntList("sizes")[i];
    steps[axis] = node->attrs().IntList("steps")[i];
    ++axis;
  }
  Value* slice = AddBefore(graph, node, Op::kSlice, {reshape->input(0)},
                           {{"starts", starts}, {"sizes", sizes}, {"steps", steps}});
  ReplaceNode(graph, node,
              AddBefore(graph, node, Op::kReshape, {slice}, {{"shape", node->output()->type().shape()}}));
  return true;
}

// slice(transpose(x)) as transpose(slice(x)), where nothing needs the whole transposed tensor.
bool SliceBeforeTranspose(Graph& graph, Node* node) {
  const Node* transpose = node->op() == Op::kSlice ? ProducerOf(node->input(0), Op::kTranspose) : nullptr;
  if (transpose == nullptr || !node->input(0)->type().is_static() || graph.IsOutput(node->input(0)))
    return false;
  const std::vector<Node*>& users = node->input(0)->users();
  if (!std::all_of(users.begin(), users.end(), [](const Node* user) { return user->op() == Op::kSlice; }))
    return false;
  const Ints& perm = transpose->attrs().IntList("perm");
  Attributes attributes;
  for (const char* name : {"starts", "sizes", "steps"}) {
    const Ints& list = node->attrs().IntList(name);
    Ints original(list.size());
    for (size_t i = 0; i < perm.size(); ++i) original[perm[i]] = list[i];
    attributes.Set(name, std::move(original));
  }
  Value* slice = AddBefore(graph, node, Op::kSlice, {transpose->input(0)}, std::move(attributes));
  ReplaceNode(graph, node, AddBefore(graph, node, Op::kTranspose, {slice}, {{"perm", perm}}));
  return true;
}

}  // namespace

absl::StatusOr<bool> PushSlicesPass(Graph& graph, const PassContext& context) {
  const bool gathers = ForEachNode(graph, GatherToSlice);
  bool tables = false;
  for (int i = 0; i < kMaxWidening && ForEachNode(graph, GatherBeforeElementwise); ++i) tables = true;
  const bool squeezes = ForEachNode(graph, SliceBeforeSqueeze);
  // The slice that was there before is not used any more, and must not count as a use.
  ASSIGN_OR_RETURN(const bool erased, DeadCodePass(graph, context));
  const bool transposes = ForEachNode(graph, SliceBeforeTranspose);
  return gathers || tables || squeezes || erased || transposes;
}

}  // namespace attune

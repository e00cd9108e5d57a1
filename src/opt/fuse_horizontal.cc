// Convolutions of one input, or matrix products with one left operand, read it several times and keep the
// machine less busy than one with all their output channels would. With constant weights they become one
// whose results are slices of its result along the channels. Elementwise steps that all of them take alike
// (a bias, an activation) are taken before the slices, where they belong to the contraction's kernel.
#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "base/status.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// The axis of the result that the branches are laid along.
int ResultAxis(const Node& node) { return node.op() == Op::kConv ? 1 : node.output()->type().rank() - 1; }
int WeightAxis(const Node& node) { return node.op() == Op::kConv ? 0 : 1; }
int64_t NumChannels(const Node& node) { return node.input(1)->constant()->shape()[WeightAxis(node)]; }

struct Limits {
  int64_t max_channels;
  int64_t max_columns;
  int64_t multiple;
};

bool IsCandidate(const Node& node, const Limits& limits) {
  if (node.op() != Op::kConv && node.op() != Op::kMatMul) return false;
  const Tensor* weights = node.input(1)->constant();
  const Value* bias = node.input(2);
  if (weights == nullptr || (bias != nullptr && bias->constant() == nullptr)) return false;
  if (!node.output()->type().is_static() || !node.output()->type().layout.is_plain()) return false;
  if (node.op() == Op::kConv ? node.attrs().Int("group", 1) != 1
                             : weights->rank() != 2 || node.attrs().Int("transpose_b", 0) != 0) {
    return false;
  }
  const int64_t channels = NumChannels(node);
  return channels > 0 && channels <= (node.op() == Op::kConv ? limits.max_channels : limits.max_columns) &&
         channels % limits.multiple == 0;
}

// Whether two candidates with the same first input differ in their number of channels alone.
bool AreParallel(const Node& a, const Node& b) {
  Shape shape = a.input(1)->constant()->shape();
  shape[WeightAxis(a)] = NumChannels(b);
  return a.op() == b.op() && a.attrs() == b.attrs() && shape == b.input(1)->constant()->shape();
}

// Concatenates `tensors`, which have equal sizes except along `axis`, along it.
Tensor Concatenate(const std::vector<Tensor>& tensors, int axis) {
  Shape shape = tensors[0].shape();
  shape[axis] = 0;
  for (const Tensor& tensor : tensors) shape[axis] += tensor.shape()[axis];
  Tensor result(tensors[0].dtype(), shape);
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  std::byte* to = result.mutable_data();
  for (int64_t row = 0; row < outer; ++row) {
    for (const Tensor& tensor : tensors) {
      const int64_t bytes = tensor.num_bytes() / outer;
      std::memcpy(to, tensor.data() + row * bytes, static_cast<size_t>(bytes));
      to += bytes;
    }
  }
  return result;
}

// The branches at the same distance from their common input.
using Branches = std::vector<Node*>;

// The contraction that makes all branches' channels.
Value* MergeContractions(Graph& graph, const Branches& branches) {
  Node* first = branches[0];
  std::vector<Tensor> weights;
  std::vector<Tensor> biases;
  bool has_bias = false;
  for (const Node* node : branches) {
    weights.push_back(*node->input(1)->constant());
    has_bias |= node->input(2) != nullptr;
    biases.push_back(node->input(2) != nullptr ? *node->input(2)->constant()
                                               : Tensor(weights[0].dtype(), {NumChannels(*node)}));
  }
  Value* weight = graph.AddConstant(Concatenate(weights, WeightAxis(*first)), first->name(), first);
  Value* bias = has_bias ? graph.AddConstant(Concatenate(biases, 0), first->name(), first) : nullptr;
  return AddBefore(graph, first, first->op(), {first->input(0), weight, bias}, first->attrs());
}

// The nodes that use the branches' results, if they all are the same elementwise operator, with one input,
// or with two whose second varies along the channels alone. Appends the values of the second inputs to
// `values`.
std::optional<Branches> NextStep(const Graph& graph, const Branches& branches, int axis,
                                 std::vector<double>& values) {
  Branches next;
  for (const Node* node : branches) {
    Node* user = OnlyUser(graph, node->output());
    if (user == nullptr || !IsElementwise(user->op()) || user->num_inputs() > 2 ||
        user->input(0) != node->output() || user->output()->type() != node->output()->type()) {
      return std::nullopt;
    }
    if (user->num_inputs() == 2) {
      const Tensor* constant = user->input(1)->constant();
      const auto along =
          constant == nullptr ? std::nullopt : ValuesAlong(*constant, user->output()->type(), axis);
      if (!along) return std::nullopt;
      values.insert(values.end(), along->begin(), along->end());
    }
    next.push_back(user);
  }
  const bool alike = std::all_of(next.begin(), next.end(), [&](const Node* node) {
    return node->op() == next[0]->op() && node->attrs() == next[0]->attrs() &&
           node->num_inputs() == next[0]->num_inputs();
  });
  return alike ? std::optional<Branches>(next) : std::nullopt;
}

void Merge(Graph& graph, Branches branches) {
  Node* position = branches[0];
  const int axis = ResultAxis(*position);
  Value* merged = MergeContractions(graph, branches);
  std::vector<double> values;
  while (const std::optional<Branches> next = NextStep(graph, branches, axis, values)) {
    std::vector<Value*> inputs = {merged};
    if (!values.empty()) {
      Shape shape(static_cast<size_t>(merged->type().rank() - axis), 1);
      shape[0] = static_cast<int64_t>(values.size());
      inputs.push_back(
          graph.AddConstant(FromDoubles((*next)[0]->input(1)->type().dtype, shape, values), "", position));
    }
    merged = AddBefore(graph, position, (*next)[0]->op(), inputs, (*next)[0]->attrs());
    merged->producer()->set_name((*next)[0]->name());
    branches = *next;
    values.clear();
  }
  Ints starts(static_cast<size_t>(merged->type().rank()), 0);
  for (Node* node : branches) {
    const Shape sizes = node->output()->type().shape();
    Value* slice = AddBefore(graph, position, Op::kSlice, {merged},
                             {{"starts", starts}, {"sizes", sizes}, {"steps", Ints(sizes.size(), 1)}});
    slice->producer()->set_name(node->name());
    slice->set_name(node->output()->name());
    node->output()->set_name("");
    graph.ReplaceAllUses(node->output(), slice);
    starts[axis] += sizes[axis];
  }
}

}  // namespace

absl::StatusOr<bool> FuseHorizontalPass(Graph& graph, const PassContext& context) {
  const Limits limits{context.Parameter("max_channels"), context.Parameter("max_columns"),
                      std::max<int64_t>(context.Parameter("multiple"), 1)};
  std::vector<Node*> candidates;
  for (const auto& node : graph.nodes()) {
    if (IsCandidate(*node, limits)) candidates.push_back(node.get());
  }
  std::unordered_map<const Value*, std::vector<Branches>> by_input;  // each of parallel nodes
  std::vector<std::pair<const Value*, size_t>> in_order;
  for (Node* node : candidates) {
    std::vector<Branches>& groups = by_input[node->input(0)];
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Branches& branches) {
      return AreParallel(*branches[0], *node);
    });
    if (group != groups.end()) {
      group->push_back(node);
    } else {
      in_order.emplace_back(node->input(0), groups.size());
      groups.push_back({node});
    }
  }
  bool changed = false;
  for (const auto& [input, index] : in_order) {
    const Branches& branches = by_input[input][index];
    if (branches.size() < 2) continue;
    Merge(graph, branches);
    changed = true;
  }
  if (changed) RETURN_IF_ERROR(DeadCodePass(graph, context).status());
  return changed;
}

}  // namespace attune

#include "plan/channel_scales.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "lower/flatten.h"
#include "lower/strategy.h"
#include "plan/group_merge.h"

namespace attune {
namespace {

// The convolution of a group with one, or null.
Node* OnlyConv(const Graph& region) {
  Node* conv = nullptr;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant || IsElementwise(node->op())) continue;
    if (conv != nullptr || node->op() != Op::kConv) return nullptr;
    conv = node.get();
  }
  return conv;
}

bool IsF32(const Value* value) { return value->type().dtype == DType::kF32; }

// Which operand of the only node of a group is a factor of each channel of the other one: -1 where none is.
int FactorsOf(const Graph& region) {
  if (region.nodes().size() != 1) return -1;
  const Node& node = *region.nodes().front();
  const TensorType& out = node.output()->type();
  if (node.op() != Op::kMul || out.rank() != 4 || !out.is_static() || !IsF32(node.output())) return -1;
  for (int i : {0, 1}) {
    const TensorType &map = node.input(1 - i)->type(), &factors = node.input(i)->type();
    const bool by_channel = map == out && factors.rank() == 4 && factors.dims[1] == out.dims[1] &&
                            factors.num_elements() == out.dims[1].size;
    if (by_channel && IsF32(node.input(i))) return i;
  }
  return -1;
}

// The group that scales what the convolution of `second` works on, where it can be a part of that group.
Node* ScaleBefore(const Graph& graph, const Node& second) {
  if (second.op() != Op::kFused || second.num_outputs() != 1) return nullptr;
  const Node* conv = OnlyConv(second.region());
  if (conv == nullptr || conv->attrs().Int("group", 1) != 1 || !conv->input(1)->is_input() ||
      conv->input(1)->users().size() != 1 || !IsF32(conv->input(1)))
    return nullptr;
  const Value* map = conv->input(0);
  if (!map->is_input() || map->users().size() != 1) return nullptr;
  const auto& inputs = second.region().inputs();
  const auto place = std::ranges::find(inputs, map, &std::unique_ptr<Value>::get) - inputs.begin();
  const Value* product = second.input(static_cast<int>(place));
  Node* first = product->producer();
  const bool is_group = first != nullptr && first->op() == Op::kFused && first->num_outputs() == 1;
  return is_group && product->users().size() == 1 && !graph.IsOutput(product) &&
                 FactorsOf(first->region()) >= 0
             ? first
             : nullptr;
}

// In the region of both groups, the product that the convolution takes gives way to that of its weights.
absl::Status MoveFactors(Graph& region) {
  Node* const conv = OnlyConv(region);
  Node* const product = conv->input(0)->producer();
  const int factors = product->input(0)->type() == product->output()->type() ? 1 : 0;
  ASSIGN_OR_RETURN(Node* const scaled, region.Add(Op::kMul, {conv->input(1), product->input(factors)}, {},
                                                  product->name(), conv));
  conv->SetInput(0, product->input(1 - factors));
  conv->SetInput(1, scaled->output());
  region.Erase(product);
  return absl::OkStatus();
}

// Of multiplying a map in a kernel: reading one from the cache that holds it, and writing another.
double ProductCycles(const TensorType& map, const Target& target) {
  const int64_t bytes = map.num_physical_bytes();
  return 2 * static_cast<double>(bytes) /
         (bytes <= target.l2_bytes ? target.l2_bytes_per_cycle : target.l3_bytes_per_cycle);
}

// The region as it will be lowered.
std::unique_ptr<Graph> Lowered(const Graph& region) {
  std::unique_ptr<Graph> flat = Flatten(region);
  return flat == nullptr ? region.Clone() : std::move(flat);
}

}  // namespace

absl::Status ScaleWeights(Graph& graph, const Target& target) {
  auto& nodes = graph.nodes();
  for (auto it = nodes.begin(); it != nodes.end();) {
    Node* const second = (it++)->get();
    for (int r = 0; second->op() != Op::kFused && r < second->num_regions(); ++r)
      RETURN_IF_ERROR(ScaleWeights(second->region(r), target));
    Node* const first = ScaleBefore(graph, *second);
    if (first == nullptr) continue;
    GroupMerge merge(*first, *second);
    RETURN_IF_ERROR(merge.Build());
    RETURN_IF_ERROR(MoveFactors(merge.region()));
    ASSIGN_OR_RETURN(const double alone, PredictCycles(*Lowered(second->region()), target));
    ASSIGN_OR_RETURN(const double scaled, PredictScaledConv(*Lowered(merge.region()), target));
    if (scaled < alone + ProductCycles(first->output()->type(), target))
      RETURN_IF_ERROR(merge.Replace(graph, first, second).status());
  }
  return absl::OkStatus();
}

}  // namespace attune

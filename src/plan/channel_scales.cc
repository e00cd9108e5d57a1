#include "plan/channel_scales.h"

#include <algorithm>
#include <memory>

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

// Which operand of a product is a factor of each channel of the other one: -1 where none is.
int FactorsOf(const Node& node) {
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
  if (second.num_outputs() != 1) return nullptr;
  const Node* conv = OnlyConv(second.region());
  if (conv == nullptr || conv->attrs().Int("group", 1) != 1 || !conv->input(1)->is_input() ||
      conv->input(1)->users().size() != 1 || !IsF32(conv->input(1)))
    return nullptr;
  const Value* map = conv->input(0);
  if (!map->is_input() || map->users().size() != 1) return nullptr;
  Node* first = GroupThatMakesOnly(graph, second.input(InputIndex(second.region(), map)));
  if (first == nullptr || first->region().nodes().size() != 1) return nullptr;
  return FactorsOf(*first->region().nodes().front()) >= 0 ? first : nullptr;
}

// In the region of both groups, the product that the convolution takes gives way to that of its weights.
absl::Status MoveFactors(Graph& region) {
  Node* const conv = OnlyConv(region);
  Node* const product = conv->input(0)->producer();
  const int factors = FactorsOf(*product);
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

}  // namespace

absl::Status ScaleWeights(Graph& graph, const Target& target) {
  return ForEachGroup(graph, [&](Graph& within, Node* second) -> absl::Status {
    Node* const first = ScaleBefore(within, *second);
    if (first == nullptr) return absl::OkStatus();
    GroupMerge merge(first, second);
    RETURN_IF_ERROR(merge.Build());
    RETURN_IF_ERROR(MoveFactors(merge.region()));
    ASSIGN_OR_RETURN(const double alone, PredictCycles(*FlatCopy(second->region()), target));
    ASSIGN_OR_RETURN(const double scaled, PredictScaledConv(*FlatCopy(merge.region()), target));
    if (scaled >= alone + ProductCycles(first->output()->type(), target)) return absl::OkStatus();
    return merge.Replace(within).status();
  });
}

}  // namespace attune

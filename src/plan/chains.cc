#include "plan/chains.h"

#include <algorithm>
#include <map>

#include "base/status.h"
#include "lower/strategy.h"
#include "plan/group_merge.h"

namespace attune {
namespace {

bool HasConvOrPool(const Graph& region) {
  return std::ranges::any_of(region.nodes(), [](const auto& node) {
    return IsConv(node->op()) || node->op() == Op::kMaxPool || node->op() == Op::kAvgPool;
  });
}

// The group that makes what `second` works on, where it may be computed with it.
Node* FirstOf(const Graph& graph, const Node& second) {
  if (second.num_outputs() != 1 || !HasConvOrPool(second.region())) return nullptr;
  for (const Value* input : second.inputs()) {
    Node* first = GroupThatMakesOnly(graph, input);
    if (first != nullptr && HasConvOrPool(first->region())) return first;
  }
  return nullptr;
}

}  // namespace

absl::Status FormChains(Graph& graph, const Target& target) {
  std::map<const Node*, double> saved;  // by chains
  return ForEachGroup(graph, [&](Graph& within, Node* second) -> absl::Status {
    Node* const first = FirstOf(within, *second);
    if (first == nullptr) return absl::OkStatus();
    GroupMerge merge(first, second);
    RETURN_IF_ERROR(merge.Build());
    ASSIGN_OR_RETURN(const double savings, PredictChainSavings(merge.region(), target));
    const auto before = saved.find(first);
    if (savings <= (before == saved.end() ? 0 : before->second)) return absl::OkStatus();
    ASSIGN_OR_RETURN(Node* const chain, merge.Replace(within));
    saved[chain] = savings;
    return absl::OkStatus();
  });
}

}  // namespace attune

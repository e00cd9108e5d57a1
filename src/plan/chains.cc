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
  if (second.op() != Op::kFused || second.num_outputs() != 1 || !HasConvOrPool(second.region()))
    return nullptr;
  for (const Value* input : second.inputs()) {
    Node* first = input->producer();
    if (first != nullptr && first->op() == Op::kFused && first->num_outputs() == 1 &&
        input->users().size() == 1 && !graph.IsOutput(input) && HasConvOrPool(first->region()))
      return first;
  }
  return nullptr;
}

}  // namespace

absl::Status FormChains(Graph& graph, const Target& target) {
  std::map<const Node*, double> saved;  // by chains
  auto& nodes = graph.nodes();
  for (auto it = nodes.begin(); it != nodes.end();) {
    Node* const second = (it++)->get();
    for (int r = 0; second->op() != Op::kFused && r < second->num_regions(); ++r)
      RETURN_IF_ERROR(FormChains(second->region(r), target));
    Node* const first = FirstOf(graph, *second);
    if (first == nullptr) continue;
    GroupMerge merge(*first, *second);
    RETURN_IF_ERROR(merge.Build());
    ASSIGN_OR_RETURN(const double savings, PredictChainSavings(merge.region(), target));
    const auto before = saved.find(first);
    if (savings <= (before == saved.end() ? 0 : before->second)) continue;
    ASSIGN_OR_RETURN(Node* const chain, merge.Replace(graph, first, second));
    saved[chain] = savings;
  }
  return absl::OkStatus();
}

}  // namespace attune

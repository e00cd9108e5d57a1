// Each fusion of each strategy goes over all groups once, in order: a group that was merged may be merged
// again with a later one. Fusions that keep the first group's result as another result come last, because
// such a kernel takes no further part.
#include "plan/fuse_groups.h"

#include <map>

#include "base/status.h"
#include "lower/strategy.h"
#include "plan/group_merge.h"

namespace attune {
namespace {

class Sweep {
 public:
  Sweep(const Strategy& strategy, const GroupFusion& fusion, const Target& target, const KernelCosts& costs)
      : strategy_(strategy), fusion_(fusion), target_(target), costs_(costs) {}

  absl::Status Run(Graph& graph) {
    return ForEachGroup(graph, [this](Graph& within, Node* group) { return Visit(within, group); });
  }

 private:
  // The group that makes an input of `second`, where one kernel may compute both; else null. A second group
  // without other inputs can be computed right after the first, so merging them makes no cycle even where
  // others use the first one's result.
  Node* FirstOf(const Graph& graph, const Node& second) const {
    if (second.num_outputs() != 1 || (fusion_.keeps_first && second.num_inputs() != 1)) return nullptr;
    for (int i = 0; i < second.num_inputs(); ++i) {
      Node* const first =
          fusion_.keeps_first ? GroupThatMakes(second.input(i)) : GroupThatMakesOnly(graph, second.input(i));
      if (first != nullptr && fusion_.may_join(first->region(), second.region(), i)) return first;
    }
    return nullptr;
  }

  absl::Status Visit(Graph& graph, Node* second) {
    Node* const first = FirstOf(graph, *second);
    if (first == nullptr) return absl::OkStatus();
    GroupMerge merge(first, second, fusion_.keeps_first);
    RETURN_IF_ERROR(merge.Build());
    if (fusion_.rewrite != nullptr) RETURN_IF_ERROR(fusion_.rewrite(merge.region()));
    const MergedGroups groups = {first->region(), second->region(), merge.region()};
    ASSIGN_OR_RETURN(const double savings, costs_.SavingsOf(strategy_, fusion_, groups, target_));
    const auto before = saved_.find(first);
    if (savings <= (before == saved_.end() ? 0 : before->second)) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Node* const merged, merge.Replace(graph));
    saved_[merged] = savings;
    return absl::OkStatus();
  }

  const Strategy& strategy_;
  const GroupFusion& fusion_;
  const Target& target_;
  const KernelCosts& costs_;
  std::map<const Node*, double> saved_;  // by groups that this sweep made
};

}  // namespace

absl::Status FuseGroups(Graph& graph, const Target& target, const KernelCosts& costs) {
  for (const bool keeps_first : {false, true}) {
    for (const Strategy& strategy : AllStrategies()) {
      for (const GroupFusion& fusion : strategy.fusions) {
        if (fusion.keeps_first == keeps_first)
          RETURN_IF_ERROR(Sweep(strategy, fusion, target, costs).Run(graph));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace attune

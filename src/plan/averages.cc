#include "plan/averages.h"

#include "base/status.h"
#include "lower/strategy.h"
#include "plan/group_merge.h"

namespace attune {
namespace {

// The group whose only result `average`, a group of one mean, reads, and nothing else; or null. What has no
// other input can be computed as soon as that result is, so that no cycle comes of it.
Node* MakerOf(const Node& average) {
  const auto& nodes = average.region().nodes();
  if (average.num_inputs() != 1 || nodes.size() != 1 || nodes.front()->op() != Op::kReduceMean)
    return nullptr;
  Node* maker = average.input(0)->producer();
  const bool is_group = maker != nullptr && maker->op() == Op::kFused && maker->num_outputs() == 1;
  return is_group ? maker : nullptr;
}

}  // namespace

absl::Status FuseAverages(Graph& graph, const Target& target) {
  return ForEachGroup(graph, [&](Graph& within, Node* average) -> absl::Status {
    Node* const maker = MakerOf(*average);
    if (maker == nullptr) return absl::OkStatus();
    GroupMerge merge(maker, average, /*keeps_first=*/true);
    RETURN_IF_ERROR(merge.Build());
    ASSIGN_OR_RETURN(const bool averages, AveragesRows(merge.region(), target));
    return averages ? merge.Replace(within).status() : absl::OkStatus();
  });
}

}  // namespace attune

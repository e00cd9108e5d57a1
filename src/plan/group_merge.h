// Fused groups: finding, making and merging them.
#ifndef ATTUNE_PLAN_GROUP_MERGE_H_
#define ATTUNE_PLAN_GROUP_MERGE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

// Calls `visit` for each fused group in order, also for those in branches and loops, with the graph that
// contains it. `visit` may replace the group, and earlier ones, by another group.
absl::Status ForEachGroup(Graph& graph, const std::function<absl::Status(Graph&, Node*)>& visit);

// The group whose only result is `value`, or null.
Node* GroupThatMakes(const Value* value);
// The same, where the value has one use and is no output of the graph; else null.
Node* GroupThatMakesOnly(const Graph& graph, const Value* value);

// Which input of a group's region a value is; -1 where it is none.
int InputIndex(const Graph& region, const Value* value);

// Adds a group of one operator on `value`, before `before` (nullptr: at the end of the graph).
absl::StatusOr<Node*> AddGroupOf(Graph& graph, Value* value, Op op, Attributes attributes, std::string name,
                                 Node* before);

// Puts two groups, of which the second uses the result of the first, into one region.
class GroupMerge {
 public:
  // Nodes of kFused with one output each, which must live until Replace(). With `keeps_first`, because
  // others use its output too, the first group's output is the first of two outputs: all inputs of the
  // second group must then be made before the first group.
  GroupMerge(Node* first, Node* second, bool keeps_first = false) : first_(first), second_(second) {
    if (keeps_first) kept_.push_back(first);
    kept_.push_back(second);
  }

  // Makes the region. Its inputs are those of the first group, and then those of the second that are not
  // among them.
  absl::Status Build();
  // Valid until Replace().
  Graph& region() { return *region_; }
  // Puts the region in the place of the two groups and erases them from `graph`. Returns the node that has
  // the region.
  absl::StatusOr<Node*> Replace(Graph& graph);

 private:
  absl::Status Copy(const Node& fused);

  Node *const first_, *const second_;
  std::vector<Node*> kept_;  // the groups whose results are the region's
  std::unique_ptr<Graph> region_ = std::make_unique<Graph>("chain");
  std::map<const Value*, Value*> values_;  // the region's values, by those outside
  std::map<const Value*, Value*> inside_;  // the region's values, by those in the two groups
  std::vector<Value*> inputs_;             // of the merged group
};

}  // namespace attune

#endif  // ATTUNE_PLAN_GROUP_MERGE_H_

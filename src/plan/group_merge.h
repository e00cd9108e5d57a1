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

// Calls `visit` for each fused group, in order, those in branches and loops first, with the graph that has
// it. It may put another one in the place of the group and of earlier ones.
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
  // Nodes of kFused with one output each, which live until they are replaced. Where others use the first
  // one's too, it is kept, as the first of two outputs: all inputs of the second group are then to be there
  // before the first.
  GroupMerge(Node* first, Node* second, bool keeps_first = false) : first_(first), second_(second) {
    if (keeps_first) kept_.push_back(first);
    kept_.push_back(second);
  }

  // Makes the region, whose inputs are those of the first group and then those of the second that are others.
  absl::Status Build();
  // Until it is replaced.
  Graph& region() { return *region_; }
  // Puts the region in the place of the two, which are erased from `graph`. Returns the node that has it.
  absl::StatusOr<Node*> Replace(Graph& graph);

 private:
  absl::Status Copy(const Node& fused);

  Node *const first_, *const second_;
  std::vector<Node*> kept_;  // the groups whose results are the region's
  std::unique_ptr<Graph> region_ = std::make_unique<Graph>("chain");
  std::map<const Value*, Value*> values_;  // the region's, by what they are outside
  std::map<const Value*, Value*> inside_;  // by what they are in the two regions
  std::vector<Value*> inputs_;             // of the merged group
};

}  // namespace attune

#endif  // ATTUNE_PLAN_GROUP_MERGE_H_

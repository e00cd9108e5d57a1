// Lowers loop trees to a loop nest.
#ifndef ATTUNE_TENSOR_SCHEDULE_LOWER_TREE_H_
#define ATTUNE_TENSOR_SCHEDULE_LOWER_TREE_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// A root stage that computes a whole buffer from one input of the kernel and nothing else, such as a packed
// copy. If that input is a constant, the stage can be prepacked.
struct PrepackableStage {
  std::string stage, input;
};
std::vector<PrepackableStage> PrepackableStages(const LoopTree& tree);

// The loop nest. Root stages become root statements. `prepacked` names PrepackableStages(), whose outputs
// become inputs; inputs that are not read are dropped.
absl::StatusOr<LoopNest> LowerTree(const LoopTree& tree, const std::set<std::string>& prepacked);
// The loop nest of one of PrepackableStages(): from its input to its output.
absl::StatusOr<LoopNest> LowerPrepacking(const LoopTree& tree, const std::string& stage);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_LOWER_TREE_H_

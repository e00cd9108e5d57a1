// The kernel of one group: its name, its loop nest and its prepackings. Plans of networks and the tuner
// both take kernels from here, so that the kernel that was measured is the one that is deployed, byte for
// byte.
#ifndef ATTUNE_PLAN_GROUP_KERNEL_H_
#define ATTUNE_PLAN_GROUP_KERNEL_H_

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "lower/strategy.h"
#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

// The text of a group that is the same for all groups that compute the same: types, operators and
// attributes, but no names. Tuning records name their task by it.
std::string CanonicalText(const Graph& region);

// The identity of a group's kernel, however it is scheduled.
struct GroupIdentity {
  std::unique_ptr<Graph> region;  // the group, flattened where it can be
  std::string key;                // equal for groups that share a kernel
  std::string operators;          // "conv+add+relu"
  std::string name;  // of the kernel, for one target: the operators and a digest of key and target
};

// The group's inputs at `constant_inputs` are constants.
GroupIdentity IdentifyGroup(const Graph& group, const std::set<int>& constant_inputs, const Target& target);

// The name of the kernel of a group with open sizes: of its operators, and a digest of `key`, which tells it
// from others, and of the target.
std::string OpenKernelName(std::string_view operators, std::string_view key, const Target& target);

// A group's loop nests.
struct GroupKernel {
  LoopNest nest;
  std::vector<std::pair<int, int>> may_alias;  // params: an output that may be the same memory as an input
  // A parameter that is made ahead of time: the kernel computes it from one constant input alone.
  struct Prepacking {
    std::string param;
    int input;  // of the group
    LoopNest nest;
  };
  std::vector<Prepacking> prepackings;
};

// `group` is scheduled from a region that IdentifyGroup gave, analyzed under the name that it gave.
absl::StatusOr<GroupKernel> LowerGroup(const ScheduledGroup& group, const std::set<int>& constant_inputs);

}  // namespace attune

#endif  // ATTUNE_PLAN_GROUP_KERNEL_H_

// Kernels by what they compute: equal groups share one.
#ifndef ATTUNE_PLAN_KERNEL_CACHE_H_
#define ATTUNE_PLAN_KERNEL_CACHE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/chooser.h"
#include "plan/group_kernel.h"
#include "plan/narrow_constants.h"
#include "plan/program.h"
#include "plan/witnesses.h"

namespace attune {

class KernelCache {
 public:
  // All must outlive this.
  KernelCache(NetworkPlan& plan, const Target& target, const KernelChooser& chooser)
      : plan_(plan), target_(target), chooser_(chooser) {}

  // The kernel of a group, as an index into the plan's kernels. Values that the kernel computes from one of
  // the constant inputs alone are prepacked. It reads `narrow_inputs` in types of 16 bits.
  absl::StatusOr<int> Get(const Graph& region, const std::set<int>& constant_inputs,
                          const NarrowInputs& narrow_inputs = {});

  // The same for a group whose sizes are open: `regions` are it at the points of `witnesses`, of which the
  // first is the one that the plan is made at. The sizes of a call are those of `sizes`, expressions of the
  // plan's sizes.
  struct OpenKernel {
    int kernel;
    std::vector<Expr> sizes;
    std::string why_slow = {};  // OpenGroup::why_slow
  };
  absl::StatusOr<OpenKernel> GetOpen(const std::vector<const Graph*>& regions,
                                     const std::set<int>& constant_inputs, const NarrowInputs& narrow_inputs,
                                     const Witnesses& witnesses);

  // A prepacked parameter of a kernel: the input of the group that it is made from, and the index of its
  // prepacking in the plan.
  struct Prepared {
    int input, prepacking;
  };
  // Null for other parameters.
  const Prepared* FindPrepared(int kernel, const std::string& param) const;

 private:
  // Adds a kernel to the plan and returns its index.
  absl::StatusOr<int> Add(GroupIdentity identity, KernelChoice choice, const ScheduledGroup& group,
                          const std::set<int>& constant_inputs, const NarrowInputs& narrow_inputs);

  NetworkPlan& plan_;
  const Target& target_;
  const KernelChooser& chooser_;
  std::map<std::string, int> kernels_;              // by task, names of symbols and narrow inputs
  std::map<std::string, OpenKernel> open_kernels_;  // by the tasks at all points, and narrow inputs
  std::map<std::pair<int, std::string>, Prepared> prepared_;
};

}  // namespace attune

#endif  // ATTUNE_PLAN_KERNEL_CACHE_H_

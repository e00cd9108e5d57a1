// Kernels by what they compute: equal groups share one.
#ifndef ATTUNE_PLAN_KERNEL_CACHE_H_
#define ATTUNE_PLAN_KERNEL_CACHE_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plan/program.h"

namespace attune {

// The text of a group that is the same for all groups that compute the same: types, operators and attributes,
// but no names. Also the task that tuning records are kept for.
std::string CanonicalText(const Graph& region);

class KernelCache {
 public:
  KernelCache(NetworkPlan& plan, const Target& target) : plan_(plan), target_(target) {}

  // The kernel of a group, whose inputs at `constant_inputs` are constants and so can be packed ahead.
  absl::StatusOr<int> Get(const Graph& region, const std::set<int>& constant_inputs);

  // The packing kernel for a parameter "inK.packed" of a kernel.
  int Packing(int kernel, const std::string& param) const { return packings_.at({kernel, param}); }

 private:
  NetworkPlan& plan_;
  const Target& target_;
  std::map<std::string, int> kernels_;
  std::map<std::pair<int, std::string>, int> packings_;
};

}  // namespace attune

#endif  // ATTUNE_PLAN_KERNEL_CACHE_H_

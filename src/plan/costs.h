// The costs of kernels, by which ways to arrange a network's groups are compared.
#ifndef ATTUNE_PLAN_COSTS_H_
#define ATTUNE_PLAN_COSTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "lower/strategy.h"
#include "target/target.h"

namespace attune {

// Asks the strategies' cost models unless a derived class, which may be calibrated, overrides that. Thread
// safe.
class KernelCosts {
 public:
  virtual ~KernelCosts() = default;
  // The cycles of one core that the kernel of a group, whose layouts are assigned, is predicted to take.
  virtual absl::StatusOr<double> CyclesOf(const Graph& region, const Target& target) const;
  // The cycles that one kernel for both groups is predicted to save, as GroupFusion::savings counts them;
  // -∞ where the strategy cannot compute it.
  virtual absl::StatusOr<double> SavingsOf(const Strategy& strategy, const GroupFusion& fusion,
                                           const MergedGroups& groups, const Target& target) const;
  // The seconds that one execution of the kernel of a task (PlannedKernel::task) was measured to take
  // within a network; 0 where it was not measured.
  virtual double SecondsOf(const std::string& task) const = 0;
};

}  // namespace attune

#endif  // ATTUNE_PLAN_COSTS_H_

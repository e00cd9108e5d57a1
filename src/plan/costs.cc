#include "plan/costs.h"

#include "lower/flatten.h"

namespace attune {

absl::StatusOr<double> KernelCosts::CyclesOf(const Graph& region, const Target& target) const {
  return PredictCycles(*FlatCopy(region), target);
}

absl::StatusOr<double> KernelCosts::SavingsOf(const Strategy& strategy, const GroupFusion& fusion,
                                              const MergedGroups& groups, const Target& target) const {
  return PredictSavings(strategy, fusion, groups, target);
}

}  // namespace attune

// Who decides how each kernel of a network is scheduled: the strategies' cost models, or measurements.
#ifndef ATTUNE_PLAN_CHOOSER_H_
#define ATTUNE_PLAN_CHOOSER_H_

#include <string>

#include "absl/status/statusor.h"
#include "lower/strategy.h"
#include "plan/costs.h"
#include "target/target.h"

namespace attune {

// The costs are those of the kernels that it gives.
class KernelChooser : public KernelCosts {
 public:
  // `task` is the group's PlannedKernel::task. What it gives must apply to the workload and be schedulable.
  virtual absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string& task,
                                              const Target& target) const = 0;
};

// By ChooseAnalytically().
const KernelChooser& AnalyticChooser();

}  // namespace attune

#endif  // ATTUNE_PLAN_CHOOSER_H_

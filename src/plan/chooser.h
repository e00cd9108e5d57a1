// Decides how each kernel of a network is scheduled: by the strategies' cost models, or by measurements.
#ifndef ATTUNE_PLAN_CHOOSER_H_
#define ATTUNE_PLAN_CHOOSER_H_

#include <string>

#include "absl/status/statusor.h"
#include "lower/strategy.h"
#include "plan/costs.h"
#include "target/target.h"

namespace attune {

// Its costs are those of the kernels that it chooses.
class KernelChooser : public KernelCosts {
 public:
  // `task` is the group's PlannedKernel::task. The choice must apply to the workload and be schedulable.
  virtual absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string& task,
                                              const Target& target) const = 0;
};

// Chooses by ChooseAnalytically().
const KernelChooser& AnalyticChooser();

}  // namespace attune

#endif  // ATTUNE_PLAN_CHOOSER_H_

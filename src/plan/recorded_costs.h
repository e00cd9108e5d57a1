// Costs that are asked once, for groups at some sizes, and hold for the same groups at others.
#ifndef ATTUNE_PLAN_RECORDED_COSTS_H_
#define ATTUNE_PLAN_RECORDED_COSTS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "plan/costs.h"

namespace attune {

// Arranging a graph asks for costs in an order that the answers and the operators decide, so that the same
// answers arrange the same graph at other sizes alike. For one thread.
class RecordedCosts : public KernelCosts {
 public:
  // `costs` must outlive this.
  explicit RecordedCosts(const KernelCosts& costs) : costs_(costs) {}

  // Gives the answers again, from the first on; new questions are answered anew.
  void Rewind() { next_ = 0; }

  absl::StatusOr<double> CyclesOf(const Graph& region, const Target& target) const override;
  absl::StatusOr<double> SavingsOf(const Strategy& strategy, const GroupFusion& fusion,
                                   const MergedGroups& groups, const Target& target) const override;
  double SecondsOf(const std::string& task) const override { return costs_.SecondsOf(task); }

 private:
  template <typename Ask>
  absl::StatusOr<double> Answer(const Ask& ask) const;

  const KernelCosts& costs_;
  mutable std::vector<double> answers_;
  mutable size_t next_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_PLAN_RECORDED_COSTS_H_

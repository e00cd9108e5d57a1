#include "plan/recorded_costs.h"

#include "base/status.h"

namespace attune {

template <typename Ask>
absl::StatusOr<double> RecordedCosts::Answer(const Ask& ask) const {
  if (next_ == answers_.size()) {
    ASSIGN_OR_RETURN(const double answer, ask());
    answers_.push_back(answer);
  }
  return answers_[next_++];
}

absl::StatusOr<double> RecordedCosts::CyclesOf(const Graph& region, const Target& target) const {
  return Answer([&] { return costs_.CyclesOf(region, target); });
}

absl::StatusOr<double> RecordedCosts::SavingsOf(const Strategy& strategy, const GroupFusion& fusion,
                                                const MergedGroups& groups, const Target& target) const {
  return Answer([&] { return costs_.SavingsOf(strategy, fusion, groups, target); });
}

}  // namespace attune

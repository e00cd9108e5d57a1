// Expands the axes of a sweep into its runs.
#ifndef ATTUNE_SWEEP_EXPANSION_H_
#define ATTUNE_SWEEP_EXPANSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sweep/sweep_file.h"

namespace attune {

inline constexpr int64_t kMostSweepRuns = 10'000;
// Before runs are excluded.
inline constexpr int64_t kMostSweepCombinations = 1'000'000;

struct ExpandedSweep {
  // The options of the axes, in their order, and then those that are the same in each run.
  std::vector<std::string> options;
  // A value for each option, for each combination that is not excluded. The last axis changes from row to
  // row.
  std::vector<std::vector<SweepValue>> rows;
  int64_t num_excluded = 0;
};

// Fails if there are no runs left, or too many; `repeat` counts.
absl::StatusOr<ExpandedSweep> ExpandSweep(const SweepFile& file);

}  // namespace attune

#endif  // ATTUNE_SWEEP_EXPANSION_H_

// Compares the inference times of two sweeps.
//
// Runs are paired that have the same values of all options that vary in either sweep. The comparison is about
// options that are the same in all runs of one sweep and different in the other.
//
// The ratio of a pair: for each run, the interval of its median follows from order statistics, as
// FindMedian() of measure/timing.h does it. If each of the two intervals misses its median with half of the
// probability that the ratio's interval may have, then by Bonferroni's inequality the ratio of the medians
// lies between low / high and high / low with the wanted confidence. It is about these runs: what makes a run
// as a whole slower, such as another clock of the processor, is in no interval of its own times, but in the
// differences between runs.
//
// The mean: the geometric mean of the ratios of all combinations of values, each of which is the geometric
// mean over its repeats. Its interval is Student's of the mean of their logarithms, and so has the
// differences between runs (Student, The probable error of a mean, 1908). Repeats do not count as
// combinations, since they say nothing about other values. Only if there is a single combination, the
// interval is that of its repeats.
#ifndef ATTUNE_SWEEP_COMPARISON_H_
#define ATTUNE_SWEEP_COMPARISON_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "measure/timing.h"
#include "sweep/sweep_plan.h"
#include "sweep/sweep_result.h"

namespace attune {

// The confidence of each median of a pair whose ratio has kSweepConfidence.
inline constexpr double kPairConfidence = 1 - (1 - kSweepConfidence) / 2;

struct RatioInterval {
  double ratio = 0, low = 0, high = 0;
  // False if there are too few times for an interval: it is then their range.
  bool has_confidence = false;
};

// The medians of a sweep's runs, with kPairConfidence; nothing for a run without times, or whose times are
// too short to be told from 0.
struct ComparedSweep {
  SweepPlan plan;
  std::vector<std::optional<MedianInterval>> medians;
};

// Reads the times in a folder.
absl::StatusOr<ComparedSweep> ReadComparedSweep(const std::string& folder);

struct SweepPair {
  size_t first = 0, second = 0;  // indices of the runs
  std::string description;       // "tune.batch=16"
  RatioInterval ratio;           // second / first: below 1, the second is faster
};

// The values in all runs of the first sweep, and their replacements in all runs of the second one.
struct SweepDifference {
  std::string what, first, second;
};

struct SweepComparison {
  std::vector<SweepDifference> differences;
  std::vector<SweepPair> pairs;  // in the order of the first sweep
  size_t num_unpaired = 0;       // runs of either sweep
  size_t num_combinations = 0;
  RatioInterval mean;
};

// Fails if there are no pairs.
absl::StatusOr<SweepComparison> CompareSweeps(const ComparedSweep& first, const ComparedSweep& second);

// The ratio of two medians, second / first.
RatioInterval RatioOfMedians(const MedianInterval& first, const MedianInterval& second);
// The geometric mean of at least one ratio.
RatioInterval MeanOfRatios(const std::vector<RatioInterval>& ratios);

}  // namespace attune

#endif  // ATTUNE_SWEEP_COMPARISON_H_

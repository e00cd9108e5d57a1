// The runs of a sweep: the part of a sweep that must not change between two starts of it.
#ifndef ATTUNE_SWEEP_SWEEP_PLAN_H_
#define ATTUNE_SWEEP_SWEEP_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sweep/expansion.h"
#include "sweep/sweep_file.h"

namespace attune {

struct SweepRun {
  std::string id;                  // 32 hexadecimal digits, unique among all sweeps
  int64_t repeat = 1;              // counts the runs with the same values, from 1
  std::vector<SweepValue> values;  // of each option of the plan
};

struct SweepPlan {
  std::string id;                    // 32 hexadecimal digits
  std::string version, fingerprint;  // of the program and the machine
  std::vector<std::string> commands;
  std::string records;
  std::vector<SweepAgent> agents;
  // The options that change together; their indices follow one another in `options`, from 0.
  std::vector<std::vector<std::string>> axes;
  std::vector<std::string> options;
  std::vector<SweepRun> runs;

  bool Has(std::string_view command) const;
  // The number of options of the axes, which come first.
  size_t NumSwept() const;
  size_t IndexOf(const std::string& option) const;  // the option must be there
  // "tune.batch=16 repeat=2": in what a run differs from the others.
  std::string DescribeRun(const SweepRun& run) const;
};

// A plan of its own, with new ids. All combinations are run once before any is run again: what drifts while
// the sweep runs then touches all alike.
SweepPlan MakeSweepPlan(const SweepFile& file, const ExpandedSweep& expanded, std::string version,
                        std::string fingerprint);

// Ok if both are the same work, whatever their ids. The error says in what they differ.
absl::Status CheckIsSamePlan(const SweepPlan& begun, const SweepPlan& wanted);

nlohmann::json ToJson(const SweepPlan& plan);
// The text may be anything.
absl::StatusOr<SweepPlan> ParseSweepPlan(const std::string& text);

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_PLAN_H_

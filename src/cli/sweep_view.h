// Shows sweeps to people.
#ifndef ATTUNE_CLI_SWEEP_VIEW_H_
#define ATTUNE_CLI_SWEEP_VIEW_H_

#include <optional>
#include <string>
#include <vector>

#include "cli/common/output.h"
#include "sweep/comparison.h"
#include "sweep/sweep_driver.h"
#include "sweep/sweep_plan.h"
#include "sweep/sweep_result.h"

namespace attune {

// A table of the runs with their results.
std::string SweepTable(const SweepPlan& plan, const std::vector<SweepResult>& results);

// "median 1.234 ms", "41 s of tuning, 1.23 times as fast", or why it has failed.
std::string DescribeSweepResult(const SweepResult& result);

// The output of attune sweep compare. The names are those that the user has given the two sweeps.
std::string ComparisonText(const SweepComparison& comparison, const std::string& first,
                           const std::string& second);
Json ComparisonJson(const SweepComparison& comparison, const ComparedSweep& first,
                    const ComparedSweep& second);

// Shows the progress of a sweep on stderr.
class SweepView final : public SweepObserver {
 public:
  explicit SweepView(const SweepPlan& plan) : plan_(plan) {}

  void OnCommand(size_t run, const std::string& command) override;
  void OnRunEnd(size_t run, const SweepResult& result) override;

 private:
  std::string NameOf(size_t run) const;

  const SweepPlan& plan_;
  std::optional<Progress> progress_;  // while a command runs
};

}  // namespace attune

#endif  // ATTUNE_CLI_SWEEP_VIEW_H_

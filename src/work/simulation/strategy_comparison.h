// Compares strategies by simulating each with the same jobs on the same hosts.
#ifndef ATTUNE_WORK_SIMULATION_STRATEGY_COMPARISON_H_
#define ATTUNE_WORK_SIMULATION_STRATEGY_COMPARISON_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "work/sched/resources.h"
#include "work/sched/simulation.h"
#include "work/sched/strategy.h"

namespace attune {

struct StrategyOutcome {
  std::string strategy;
  // Whether stages got what they needed. If not, they are simulated as if they did not slow one another down.
  bool is_coordinated = true;
  int64_t hosts = 0, devices = 0, processors = 0;  // that it had
  double makespan = 0;                             // seconds
  // No schedule with this hardware ends earlier: the most seconds that any resource is demanded, divided by
  // how much there is of it; or the end of the job that would end last if it never waited.
  double bound = 0;
  double idle_devices = 0, idle_processors = 0;  // shares of the makespan; 0 if there are none
  double waiting_p50 = 0, waiting_p99 = 0;       // seconds
  int64_t missed_deadlines = 0;
  double decisions_per_second = 0, decision_p99 = 0;  // real seconds
  std::vector<StageRun> runs;
};

// Thread safe.
class StrategyComparison {
 public:
  // Computes what the jobs demand of such hosts. `jobs` and `hosts` must outlive it; neither may be empty.
  StrategyComparison(const std::vector<SimulatedJob>& jobs, const std::vector<HostResources>& hosts);

  // A strategy that dedicates hosts gets one like these for each job, or these if they are more. Fails,
  // naming the job and the stage, if no host can ever grant it.
  absl::StatusOr<StrategyOutcome> Run(const SchedulingStrategy& strategy) const;

 private:
  // Amounts of resources by name.
  struct Supply {
    std::map<std::string, double> amounts;
    int64_t hosts = 0, devices = 0, processors = 0;

    void Add(const HostResources& host);
  };
  // Amounts multiplied by seconds.
  struct Demand {
    std::map<std::string, double> amounts;
    double devices = 0, processors = 0;

    void Add(const Holding& holding, const HostResources& host, double seconds);
  };

  // Each job alone on the first host that can grant its stages.
  absl::StatusOr<SimulationResult> RunAlone(const SchedulingStrategy& strategy, Supply& supply) const;

  const std::vector<SimulatedJob>& jobs_;
  const std::vector<HostResources>& hosts_;
  Supply supply_;
  Demand demand_;
  double longest_ = 0;  // when the last job would end if none waited
};

nlohmann::ordered_json ToJson(const StrategyOutcome& outcome);

// The outcomes as texts for people, a row each, under a header.
std::vector<std::vector<std::string>> ComparisonRows(const std::vector<StrategyOutcome>& outcomes);

// A chart of what the jobs did under this strategy, as HTML.
std::string StrategyChart(const std::vector<SimulatedJob>& jobs, const StrategyOutcome& outcome);
// A page with the outcomes and their charts. `workload` describes the jobs, as text.
std::string ComparisonHtml(const std::string& workload, const std::vector<StrategyOutcome>& outcomes,
                           const std::vector<std::string>& charts);

}  // namespace attune

#endif  // ATTUNE_WORK_SIMULATION_STRATEGY_COMPARISON_H_

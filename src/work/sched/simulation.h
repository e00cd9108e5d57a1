// Runs the scheduler over jobs whose durations are known, without running anything.
//
// Problem: what a strategy does with a thousand jobs or devices cannot be tried out, and what it does with
// four takes hours. Idea: the same scheduler as everywhere, driven by a queue of events in simulated time.
// Cost: a decision for each event.
#ifndef ATTUNE_WORK_SCHED_SIMULATION_H_
#define ATTUNE_WORK_SCHED_SIMULATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/job.h"
#include "work/sched/resources.h"
#include "work/sched/strategy.h"

namespace attune {

struct SimulatedStage {
  JobStage stage;
  double seconds = 0;  // recorded or drawn; predictions are the stage's own
};

struct SimulatedJob {
  JobFacts facts;
  double submitted = 0;
  std::vector<SimulatedStage> stages;  // at least one
  // Jobs, by index, that have to end before it is submitted: the parts of a job before what follows them.
  std::vector<size_t> after = {};
};

// One stage as it ran.
struct StageRun {
  size_t job = 0, stage = 0;  // indices
  int host = 0;
  double asked = 0, start = 0, end = 0;
};

struct SimulationResult {
  std::vector<StageRun> runs;  // in the order of their starts
  double makespan = 0;         // from 0 to the end of the last stage
  int64_t missed_deadlines = 0;
  std::vector<double> decision_seconds;  // real ones, in the order of the decisions

  // The q-th quantile of the seconds that stages waited, 0 <= q <= 1.
  double Waiting(double q) const;
};

// Deterministic, but for decision_seconds, which `clock` times. Fails if a stage can never be granted, or if
// jobs wait for one another.
absl::StatusOr<SimulationResult> Simulate(const std::vector<SimulatedJob>& jobs,
                                          const std::vector<HostResources>& hosts,
                                          const SchedulingStrategy& strategy,
                                          const Clock& clock = SystemClock());

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_SIMULATION_H_

// One job after another, in the order of submission.
//
// Problem: what do many jobs cost without a scheduler? Idea: a job starts when the one before it has ended,
// as a person does who starts them from a script. Cost: whatever a job's stage does not use stands idle. It
// is the baseline of the others. After the evaluation of a thesis on scheduling AutoTVM's jobs (2020).
#include "work/sched/strategies/strategies.h"

namespace attune {

double SequentialKey(const StageRequest& request, const JobFacts&) {
  return static_cast<double>(request.job);
}

bool SequentialMayStart(const StageRequest& request, const ScheduleState& state) {
  return request.job == state.first_job;
}

}  // namespace attune

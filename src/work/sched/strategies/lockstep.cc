// All jobs' stages in rounds.
//
// Problem: jobs that interleave freely are hard to follow and to compare. Idea: each job runs its n-th stage
// before any runs its next one. Cost: every round takes as long as its longest stage. Jobs of the same kind
// and size lose little.
#include "work/sched/strategies/strategies.h"

namespace attune {

double LockstepKey(const StageRequest& request, const JobFacts&) {
  return static_cast<double>(request.round);
}

bool LockstepMayStart(const StageRequest& request, const ScheduleState& state) {
  return request.round == state.least_round;
}

}  // namespace attune

// The job with the longest way to go first, or the least slack to its deadline.
//
// Problem: with predicted times, which order ends all jobs earliest? Idea: where several jobs want a
// resource, the one with the most predicted work left has the critical path, so whatever it waits is added to
// the end of all (Graham, Bounds on multiprocessing timing anomalies, 1969: longest processing time first). A
// job with a deadline has slack instead, the time that is left beyond its work; those with the least go
// first, before all without (Leung, A new algorithm for scheduling periodic real-time tasks, 1989). Slack
// shrinks for all alike while they wait, so that its order stays. Cost: predictions; and a short job can
// starve while longer ones keep coming.
#include "work/sched/strategies/strategies.h"

namespace attune {

double PredictiveKey(const StageRequest& request, const JobFacts& job) {
  constexpr double kBehindAllDeadlines = 1e12;  // seconds
  if (job.deadline.has_value()) return *job.deadline - request.remaining;
  return kBehindAllDeadlines - request.remaining;
}

}  // namespace attune

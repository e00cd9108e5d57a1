// By priority, which grows while a request waits.
//
// Problem: some jobs matter more, but the others must end too. Idea: a level of priority is worth a head
// start of some minutes, so that a request that has waited longer than that overtakes (ageing; Silberschatz,
// Operating System Concepts, section 5.3). The order of two requests never changes while they wait, as both
// age alike. Cost: how much a level is worth is arbitrary.
#include "work/sched/strategies/strategies.h"

namespace attune {

double PriorityKey(const StageRequest& request, const JobFacts& job) {
  constexpr double kHeadStart = 600;  // seconds a level
  return request.since - kHeadStart * job.priority;
}

}  // namespace attune

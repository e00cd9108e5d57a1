// The same for each owner.
//
// Problem: an owner of a hundred jobs pushes aside one who has one. Idea: the owner whose stages have taken
// the least time so far goes first; within an owner, the request that waits longest (Waldspurger and Weihl,
// Stride scheduling, 1995, with equal tickets). Cost: an owner who comes late goes first until they have
// caught up.
#include "sched/strategies/strategies.h"

namespace attune {

double FairShareKey(const StageRequest& request, const JobFacts&) { return request.since; }

}  // namespace attune

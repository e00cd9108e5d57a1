// The same for each owner.
//
// Problem: an owner of a hundred jobs pushes aside one who has one. Idea: the owner whose stages have taken
// the least time so far goes first (Waldspurger and Weihl, Stride scheduling, 1995, with equal tickets); a
// stage counts by its predicted time as soon as it starts. Within an owner it is as in priority.cc. Cost: a
// stage that takes longer than predicted is charged for the rest only when it ends.
#include "work/sched/strategies/strategies.h"

namespace attune {

double FairShareKey(const StageRequest& request, const JobFacts& job) { return PriorityKey(request, job); }

}  // namespace attune

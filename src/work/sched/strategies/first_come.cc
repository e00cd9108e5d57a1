// The request that waits longest first.
//
// Problem: fill the gaps of one job with the stages of others, without knowing how long anything takes. Idea:
// requests are served in the order in which they were made. Cost: a short job that comes late waits as long
// as all others. No job starves: each request is the oldest at some time.
#include "work/sched/strategies/strategies.h"

namespace attune {

double FirstComeKey(const StageRequest& request, const JobFacts&) { return request.since; }

}  // namespace attune

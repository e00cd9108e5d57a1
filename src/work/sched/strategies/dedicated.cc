// Each job on a host of its own.
//
// Problem: how fast are jobs that never meet? Idea: a job keeps the host that it began on until it ends.
// Cost: as many hosts as jobs, each of which stands idle most of the time. The bound on the others'
// completion times.
#include "work/sched/strategies/strategies.h"

namespace attune {

double DedicatedKey(const StageRequest& request, const JobFacts&) { return static_cast<double>(request.job); }

}  // namespace attune

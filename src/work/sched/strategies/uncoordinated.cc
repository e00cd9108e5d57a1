// All stages at once, whatever they need.
//
// Problem: what do jobs do to one another that are simply started side by side? Idea: every request is
// granted when it is made, and the operating system shares the machine out. Cost: measurements are disturbed,
// and memory may run out. It shows what coordination is worth; nothing that is kept should be measured so.
#include "work/sched/strategies/strategies.h"

namespace attune {

double UncoordinatedKey(const StageRequest& request, const JobFacts&) { return request.since; }

}  // namespace attune

// As predictive, but a job's stages with the same needs run one after the other.
//
// Problem: jobs of the same kind have about the same work left, so that after each stage another one of them
// has the most. Then all of them learn, all of them search and all of them build before the first one
// measures, and the device waits for as long. Idea: a job that has ended one stage and needs the same
// resources for the next one, as it does to update its model, to search and to build, continues before
// others. Cost: a job with little slack waits for the other one's piece of work instead of one stage of it.
#include "work/sched/strategies/strategies.h"

namespace attune {

double BackToBackKey(const StageRequest& request, const JobFacts& job) {
  constexpr double kBeforeAllOthers = 1e13;  // seconds
  return PredictiveKey(request, job) - (request.continues ? kBeforeAllOthers : 0);
}

}  // namespace attune

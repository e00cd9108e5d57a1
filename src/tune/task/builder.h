// The interface for building candidates, and its results.
#ifndef ATTUNE_TUNE_TASK_BUILDER_H_
#define ATTUNE_TUNE_TASK_BUILDER_H_

#include <span>
#include <string>
#include <vector>

#include "measure/kernel.h"
#include "measure/outcome.h"
#include "tune/task/task.h"

namespace attune {

struct BuildRequest {
  const TuningTask* task = nullptr;  // must outlive the call
  Candidate candidate;
};

struct BuildResult {
  // kOk, or kBuildFailed, kTimedOut, kCrashed, kOutOfMemory: a fault of the candidate, to be recorded.
  // kRetry: the builder could not work at all (for example, no processes left), which says nothing about
  // the candidate.
  TrialOutcome outcome = TrialOutcome::kRetry;
  std::string reason;  // one line or a few; empty if the outcome is ok
  double seconds = 0;  // duration of the build
  BuiltKernel kernel;  // set if the outcome is ok
};

// Thread safe.
class Builder {
 public:
  virtual ~Builder() = default;
  // Builds all and waits; returns one result per request, in order. When it returns, nothing runs any more
  // on behalf of these requests.
  virtual std::vector<BuildResult> Build(std::span<const BuildRequest> requests) = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_BUILDER_H_

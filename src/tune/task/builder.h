// Building candidates: the interface, and what comes out.
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
  const TuningTask* task = nullptr;  // outlives the call
  Candidate candidate;
};

struct BuildResult {
  // kOk, or kBuildFailed, kTimedOut, kCrashed, kOutOfMemory: the candidate's own fault, to be recorded.
  // kRetry: the builder could not work at all (no processes left, say), which says nothing of the candidate.
  TrialOutcome outcome = TrialOutcome::kRetry;
  std::string reason;  // one line or a few; empty where the outcome is ok
  double seconds = 0;  // that building took
  BuiltKernel kernel;  // where the outcome is ok
};

// Thread safe.
class Builder {
 public:
  virtual ~Builder() = default;
  // Builds all and waits: one result a request, in order. When it returns, nothing runs any more on behalf of
  // these requests.
  virtual std::vector<BuildResult> Build(std::span<const BuildRequest> requests) = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_BUILDER_H_

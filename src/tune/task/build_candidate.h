// Turns a candidate into machine code, in this process; the workers of a builder use it.
#ifndef ATTUNE_TUNE_TASK_BUILD_CANDIDATE_H_
#define ATTUNE_TUNE_TASK_BUILD_CANDIDATE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "plan/group_kernel.h"
#include "target/target.h"
#include "tune/task/builder.h"
#include "tune/task/task.h"

namespace attune {

// Test hooks that put faults into a build. Each may be empty.
struct BuildHooks {
  std::function<void(const Candidate&)> before;
  // Called with the loop nests, before code is generated, and with the linked code.
  std::function<void(const Candidate&, GroupKernel&)> lowered;
  std::function<void(const Candidate&, BuiltKernel&)> linked;
};

// The kernel for `task` with this candidate: the same object code as in an artifact whose plan chose the
// candidate. If the region has dynamic dimensions, their slots are numbered within the region, so the
// code may differ from a network's, but only in these numbers. Prepackings are also compiled for the
// target, since its device runs them. Thread safe.
absl::StatusOr<BuiltKernel> BuildCandidate(const TuningTask& task, const Candidate& candidate,
                                           const Target& target, const BuildHooks& hooks = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_BUILD_CANDIDATE_H_

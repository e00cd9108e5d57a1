// From a candidate to machine code, in this process: what a builder's workers do.
#ifndef ATTUNE_TUNE_TASK_BUILD_CANDIDATE_H_
#define ATTUNE_TUNE_TASK_BUILD_CANDIDATE_H_

#include <functional>

#include "absl/status/statusor.h"
#include "plan/group_kernel.h"
#include "target/target.h"
#include "tune/task/builder.h"
#include "tune/task/task.h"

namespace attune {

// For tests, which put faults into a build. Each may be empty.
struct BuildHooks {
  std::function<void(const Candidate&)> before;
  // The loop nests, before code is generated; then the linked code.
  std::function<void(const Candidate&, GroupKernel&)> lowered;
  std::function<void(const Candidate&, BuiltKernel&)> linked;
};

// The kernel of `task` by a candidate: the same object code as in an artifact whose plan chose that
// candidate. Where the region makes dynamic dimensions, their slots are numbered within the region, so that
// the code may differ from a network's in these numbers alone. Prepackings are compiled for the target too,
// whose device runs them.
// Thread safe.
absl::StatusOr<BuiltKernel> BuildCandidate(const TuningTask& task, const Candidate& candidate,
                                           const Target& target, const BuildHooks& hooks = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_BUILD_CANDIDATE_H_

// The worker process that builds candidates for a LocalBuilder.
#ifndef ATTUNE_TUNE_TASK_BUILD_WORKER_H_
#define ATTUNE_TUNE_TASK_BUILD_WORKER_H_

#include "tune/task/build_candidate.h"

namespace attune {

inline constexpr char kBuilderKind[] = "builder";

// The worker's main loop; RunIfWorker() of base/process/worker.h calls it.
int RunBuildWorker(const BuildHooks& hooks = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_BUILD_WORKER_H_

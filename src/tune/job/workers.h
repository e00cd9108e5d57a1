// The worker processes of a tuning job.
#ifndef ATTUNE_TUNE_JOB_WORKERS_H_
#define ATTUNE_TUNE_JOB_WORKERS_H_

#include <optional>
#include <span>

#include "base/process/worker.h"
#include "tune/task/build_candidate.h"

namespace attune {

// Like RunIfWorker() of base/process/worker.h, for workers that build and measure candidates, and those of
// `more` kinds.
std::optional<int> RunIfWorker(int argc, char** argv, const BuildHooks& hooks = {},
                               std::span<const WorkerKind> more = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_WORKERS_H_

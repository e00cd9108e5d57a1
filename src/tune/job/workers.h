// The worker processes of a tuning job.
#ifndef ATTUNE_TUNE_JOB_WORKERS_H_
#define ATTUNE_TUNE_JOB_WORKERS_H_

#include <optional>

#include "tune/task/build_candidate.h"

namespace attune {

// Like RunIfWorker() of base/process/worker.h, for workers that build and measure candidates.
std::optional<int> RunIfWorker(int argc, char** argv, const BuildHooks& hooks = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_WORKERS_H_

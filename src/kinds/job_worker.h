// The worker processes of a program that runs jobs.
#ifndef ATTUNE_KINDS_JOB_WORKER_H_
#define ATTUNE_KINDS_JOB_WORKER_H_

#include <optional>
#include <span>

#include "base/process/worker.h"
#include "work/driver/runner_worker.h"

namespace attune {

// Like RunIfWorker() of base/process/worker.h, for runners of all kinds of jobs, for the workers of tuning
// jobs, and for those of `more` kinds. `elsewhere` and `port` are those of RunnerWorker().
std::optional<int> RunIfJobWorker(int argc, char** argv, std::span<const WorkerKind> more = {},
                                  const ServiceElsewhere& elsewhere = nullptr,
                                  const PortElsewhere& port = nullptr);

}  // namespace attune

#endif  // ATTUNE_KINDS_JOB_WORKER_H_

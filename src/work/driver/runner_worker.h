// A runner as a worker process: it has one job, and runs its stages on command.
//
// Problem: a job may crash, exhaust memory or hang, and neither the scheduler nor other jobs may suffer.
// Idea: each job lives in a process of its own. The process is passive: it runs the next stage when it is
// told to, on the processors that it is granted, and reports what comes next. If it dies, another one opens
// the job and resumes from the job's saved state.
#ifndef ATTUNE_WORK_DRIVER_RUNNER_WORKER_H_
#define ATTUNE_WORK_DRIVER_RUNNER_WORKER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "base/process/worker.h"
#include "work/job/kind.h"

namespace attune {

class MeasuringService;  // measure/service.h

// The kind of worker (base/process/worker.h).
inline constexpr char kRunnerKind[] = "runner";

// The name of the stage in which a runner opens its job.
inline constexpr char kOpenStage[] = "open";

// Measures on a device elsewhere, by its key and the credentials of a job's place.
using ServiceElsewhere = std::function<absl::StatusOr<std::shared_ptr<MeasuringService>>(
    const std::string& key, const std::string& credentials)>;

// The TCP port that a job measures by, as the credentials of its place have it; 0 if they have none.
using PortElsewhere = std::function<int(const std::string& credentials)>;

// The worker that is a runner of jobs of these kinds. Without `elsewhere`, it refuses jobs that measure on
// devices elsewhere. Jobs whose place says so are confined (job_sandbox.h); without `port`, they open no
// connections.
WorkerKind RunnerWorker(JobKinds kinds, const ServiceElsewhere& elsewhere = nullptr,
                        const PortElsewhere& port = nullptr);

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_RUNNER_WORKER_H_

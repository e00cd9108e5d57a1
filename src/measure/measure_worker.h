// The worker process that checks and times kernels on behalf of a measurer.
#ifndef ATTUNE_MEASURE_MEASURE_WORKER_H_
#define ATTUNE_MEASURE_MEASURE_WORKER_H_

namespace attune {

inline constexpr char kRunnerKind[] = "runner";

// Its life: RunIfWorker() of base/process/worker.h calls it. kWorkerFile is the task's data.
int RunRunner();

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURE_WORKER_H_

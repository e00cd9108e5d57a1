// The worker process that checks and times on behalf of a LocalMeasuringService. It never calls generated
// code itself but forks a process for each kernel and network, measured_process.h.
#ifndef ATTUNE_MEASURE_MEASURE_WORKER_H_
#define ATTUNE_MEASURE_MEASURE_WORKER_H_

namespace attune {

inline constexpr char kMeasureWorkerKind[] = "measurer";

// Its life: RunIfWorker() of base/process/worker.h calls it.
int RunMeasureWorker();

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURE_WORKER_H_

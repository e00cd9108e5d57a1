// The worker process that checks and times for a LocalMeasuringService. It never calls generated code
// itself, but forks a process for each kernel and network (measured_process.h).
#ifndef ATTUNE_MEASURE_MEASURE_WORKER_H_
#define ATTUNE_MEASURE_MEASURE_WORKER_H_

namespace attune {

inline constexpr char kMeasureWorkerKind[] = "measurer";

// The worker's main loop; RunIfWorker() of base/process/worker.h calls it.
int RunMeasureWorker();

}  // namespace attune

#endif  // ATTUNE_MEASURE_MEASURE_WORKER_H_

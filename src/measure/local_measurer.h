// Measures candidates on this machine, in processes: whatever a kernel does costs its own measurement alone.
//
// The task's inputs and expected outputs are computed here, once a task. A runner process gets them, and for
// each candidate forks another that runs the kernel (kernel_process.h says what is promised of that).
#ifndef ATTUNE_MEASURE_LOCAL_MEASURER_H_
#define ATTUNE_MEASURE_LOCAL_MEASURER_H_

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "base/process/worker_process.h"
#include "device/machine_use.h"
#include "measure/measurer.h"

namespace attune {

struct LocalMeasurerOptions {
  double start_seconds_limit = 30;  // until a new runner is ready
  std::string worker_program;       // empty: FindWorkerProgram()'s
  std::shared_ptr<MachineUse> use;  // shared with the builder of the same cores; null: nobody builds
};

// Keeps the data and the runner of the last task.
class LocalMeasurer final : public Measurer {
 public:
  explicit LocalMeasurer(LocalMeasurerOptions options);
  ~LocalMeasurer() override;

  Measurement Measure(const TuningTask& task, const BuiltKernel& kernel, const MeasureOptions& options,
                      const Incumbent* incumbent) override;

  // Of the runner that there is now, or -1; for tests.
  pid_t RunnerPid();

 private:
  // These are for whoever holds the mutex.
  absl::Status Begin(const TuningTask& task);
  // `killed`: the runner was, from outside.
  Measurement Ask(const std::string& request, double seconds_limit, bool* killed);

  const LocalMeasurerOptions options_;
  std::mutex mutex_;
  std::string task_;  // the digest of the last one
  FileDescriptor data_;
  absl::Status data_status_;  // why there is none
  std::unique_ptr<WorkerProcess> runner_;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_LOCAL_MEASURER_H_

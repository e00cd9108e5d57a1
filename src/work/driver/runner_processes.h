// Runners that are processes of this machine. They end when this process does.
#ifndef ATTUNE_WORK_DRIVER_RUNNER_PROCESSES_H_
#define ATTUNE_WORK_DRIVER_RUNNER_PROCESSES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/process/worker_process.h"
#include "work/driver/runners.h"

namespace attune {

class RunnerProcesses final : public Runners {
 public:
  // `program`: whose main() calls RunIfWorker with kRunnerKind; empty: FindWorkerProgram(). Await() also
  // returns once the file `wake` can be read, if that is not negative.
  explicit RunnerProcesses(std::string program = "", int wake = -1)
      : program_(std::move(program)), wake_(wake) {}

  // There is one host, whatever its number.
  absl::StatusOr<int64_t> Start(int host) override;
  void Send(int64_t runner, const RunnerCommand& command) override;
  std::vector<RunnerEvent> Await(double seconds) override;
  void End(int64_t runner) override { processes_.erase(runner); }

  // For tests that kill them.
  std::vector<pid_t> Pids() const;

 private:
  struct Process {
    std::unique_ptr<WorkerProcess> process;
    bool is_registered = false;
    bool runs = false;  // a stage
  };

  // The report that has arrived; or how the process ended, which is then removed, as one is that reports what
  // it was not asked for: it runs the code of a job, and may have been taken over.
  RunnerEvent Receive(int64_t runner);
  RunnerLost Remove(int64_t runner, std::string_view why);

  const std::string program_;
  const int wake_;
  std::map<int64_t, Process> processes_;
  std::vector<RunnerEvent> failed_;  // whose commands could not be sent
  int64_t num_started_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_RUNNER_PROCESSES_H_

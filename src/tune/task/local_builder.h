// Builds candidates on this machine, in a pool of processes: one that crashes, hangs or wants too much memory
// costs its own candidate and nothing else.
#ifndef ATTUNE_TUNE_TASK_LOCAL_BUILDER_H_
#define ATTUNE_TUNE_TASK_LOCAL_BUILDER_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/process/worker_process.h"
#include "device/machine_use.h"
#include "target/target.h"
#include "tune/task/builder.h"

namespace attune {

struct LocalBuilderOptions {
  Target target;
  int processes = 1;
  // Of one candidate. A worker that takes longer is killed (kTimedOut).
  double seconds_limit = 30;
  // Address space of a worker, of which the program itself takes a few hundred MB.
  int64_t address_space_bytes = int64_t{4} << 30;
  double start_seconds_limit = 30;  // until a new worker is ready
  std::string worker_program;       // empty: FindWorkerProgram()'s
  std::shared_ptr<MachineUse> use;  // shared with the measurer of the same cores; null: nobody measures
};

// Workers are started when they are first needed and replaced when they die. One that is killed from outside
// does not tell whether its candidate was at fault, which is built again once.
class LocalBuilder final : public Builder {
 public:
  explicit LocalBuilder(LocalBuilderOptions options);
  ~LocalBuilder() override;

  std::vector<BuildResult> Build(std::span<const BuildRequest> requests) override;

  // Of the workers that there are now; for tests.
  std::vector<pid_t> WorkerPids();

 private:
  class Batch;

  // Starts workers until there are `count`, and waits until they are ready.
  absl::Status Grow(size_t count);

  const LocalBuilderOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_LOCAL_BUILDER_H_

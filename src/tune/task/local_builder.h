// Builds candidates on this machine, in a pool of processes: a build that crashes, hangs or needs too much
// memory fails only its own candidate.
#ifndef ATTUNE_TUNE_TASK_LOCAL_BUILDER_H_
#define ATTUNE_TUNE_TASK_LOCAL_BUILDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/process/worker_pool.h"
#include "target/target.h"
#include "tune/task/builder.h"

namespace attune {

struct LocalBuilderOptions {
  Target target;  // of the device that will run the candidates
  int processes = 1;
  // Limit per candidate. A worker that takes longer is killed (kTimedOut).
  double seconds_limit = 30;
  // Address space of a worker, including a few hundred MB for the program itself.
  int64_t address_space_bytes = int64_t{4} << 30;
  double start_seconds_limit = 30;  // until a new worker is ready
  std::string worker_program = {};  // empty: FindWorkerProgram()
};

class LocalBuilder final : public Builder {
 public:
  explicit LocalBuilder(LocalBuilderOptions options);

  std::vector<BuildResult> Build(std::span<const BuildRequest> requests) override;

  // The process ids of the current workers; for tests.
  std::vector<pid_t> WorkerPids() { return pool_.Pids(); }

 private:
  const LocalBuilderOptions options_;
  WorkerPool pool_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_LOCAL_BUILDER_H_

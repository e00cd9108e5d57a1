// The entry of worker processes, which build and run candidates on behalf of a tuner.
#ifndef ATTUNE_TUNE_WORKER_H_
#define ATTUNE_TUNE_WORKER_H_

#include <optional>

#include "tune/build_candidate.h"

namespace attune {

// For main() to call before anything else: runs the worker if the arguments ask for one ("--worker KIND", as
// WorkerProcess starts it), and returns the exit status that main() returns then. Nothing for other
// arguments. A program whose main() calls this can be its own worker.
std::optional<int> RunIfWorker(int argc, char** argv, const BuildHooks& hooks = {});

// Whether RunIfWorker was called in this process.
bool MainRunsWorkers();

// The life of a runner (runner.cc), which serves the measurer on kWorkerSocket; kWorkerFile is the task's
// data.
int RunRunner();

}  // namespace attune

#endif  // ATTUNE_TUNE_WORKER_H_

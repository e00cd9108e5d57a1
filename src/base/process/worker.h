// The entry of worker processes, which do for a program what may crash, hang or be hostile.
#ifndef ATTUNE_BASE_PROCESS_WORKER_H_
#define ATTUNE_BASE_PROCESS_WORKER_H_

#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace attune {

struct WorkerKind {
  std::string_view name;
  // The life of such a worker, which serves requests on kWorkerSocket until that closes. Returns the exit
  // status of its process.
  std::function<int()> run;
};

// For main() to call before anything else: runs the worker if the arguments ask for one ("--worker KIND", as
// WorkerProcess starts it), and returns the exit status that main() returns then. Nothing for other
// arguments. A program whose main() calls this can be its own worker.
std::optional<int> RunIfWorker(int argc, char** argv, std::span<const WorkerKind> kinds);

// Whether RunIfWorker was called in this process.
bool MainRunsWorkers();

// From now on, this process may take so many more seconds of a processor, about, before it is killed.
void LimitCpuSeconds(double seconds);

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_WORKER_H_

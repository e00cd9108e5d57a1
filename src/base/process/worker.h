// The entry point of worker processes, which do the work of a program that may crash, hang or be hostile.
#ifndef ATTUNE_BASE_PROCESS_WORKER_H_
#define ATTUNE_BASE_PROCESS_WORKER_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace attune {

struct WorkerKind {
  std::string_view name;
  // The main loop of such a worker: serves requests on kWorkerSocket until the socket closes. Returns the
  // exit status of the process.
  std::function<int()> run;
  // Whether it gets namespaces of its own. A worker that does what the user could do as well, such as to
  // start the user's own programs, needs none.
  bool is_confined = true;
  // Whether a thread of its own ends it with its parent, whatever else it does. A worker without one has no
  // thread that its fences come too late for; it must be bounded in time, or end itself.
  bool is_watched = true;
};

// The build id tells builds of Attune apart, for programs whose workers are programs of their own: a worker
// must have the same as the program that starts it. It is empty until it is set, which must be before the
// first worker starts.
void SetBuildId(std::string id);
const std::string& BuildId();

// For main() to call before anything else. If the arguments ask for a worker ("--worker KIND BUILD", as
// WorkerProcess starts it), runs it, in namespaces of its own where the system allows them (namespaces.h),
// and returns the exit status that main() must return. Returns nothing for other arguments. A program whose
// main() calls this can be its own worker.
std::optional<int> RunIfWorker(int argc, char** argv, std::span<const WorkerKind> kinds);

// Whether RunIfWorker was called in this process.
bool MainRunsWorkers();

// From now on, this process may use about this many more seconds of processor time before it is killed.
void LimitCpuSeconds(double seconds);

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_WORKER_H_

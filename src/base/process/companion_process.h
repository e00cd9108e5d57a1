// A program that works for this one, and does not outlive it.
//
// Problem: what a program has started must end with it, even if it is killed. Idea: the kernel kills the
// companion when the thread that has started it ends (PR_SET_PDEATHSIG). The companion is to do the same for
// what it starts; while this process lives, it kills the whole process group.
#ifndef ATTUNE_BASE_PROCESS_COMPANION_PROCESS_H_
#define ATTUNE_BASE_PROCESS_COMPANION_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Not thread safe.
class CompanionProcess {
 public:
  // Starts `program`, a path, with our environment and no input. `arguments` begin with the name that it is
  // to have. It runs in `folder` (empty: where this process does), and all that it prints is appended to the
  // file `log`. The calling thread must outlive it. Fails if it cannot be started.
  static absl::StatusOr<std::unique_ptr<CompanionProcess>> Start(const std::string& program,
                                                                 std::vector<std::string> arguments,
                                                                 const std::string& folder,
                                                                 const std::string& log);
  CompanionProcess(const CompanionProcess&) = delete;
  CompanionProcess& operator=(const CompanionProcess&) = delete;
  // Kills it, and waits until it is gone.
  ~CompanionProcess();

  pid_t pid() const { return pid_; }
  // Waits this many seconds for its end. Returns the status of waitpid(), or nothing if it still runs.
  std::optional<int> AwaitEnd(double seconds);
  // Asks it to end (SIGTERM), and kills it after this many seconds.
  void Stop(double grace_seconds);

 private:
  explicit CompanionProcess(pid_t pid) : pid_(pid) {}

  const pid_t pid_;
  FileDescriptor ended_;            // can be read once the program has ended
  std::optional<int> wait_status_;  // once it is reaped
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_COMPANION_PROCESS_H_

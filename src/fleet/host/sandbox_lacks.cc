#include "fleet/host/sandbox_lacks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/namespaces.h"
#include "base/process/sandbox.h"

namespace attune {
namespace {

// Bits of the trying process's exit status.
constexpr int kNoNamespaces = 1, kNoPidNamespaces = 2, kHasFiles = 4, kNoLandlock = 8, kNoFilter = 16;

struct Fence {
  int bit;
  const char* lack;
};
constexpr Fence kFences[] = {
    {kNoNamespaces,
     "The system gives processes no namespaces of their own: only the filter of system calls keeps measured "
     "code from the network."},
    {kNoPidNamespaces,
     "The system gives processes no PID namespaces of their own: only the filter of system calls keeps "
     "measured code from this user's other processes."},
    {kHasFiles,
     "The system gives processes no mounts of their own, one of three fences between measured code and this "
     "user's files."},
    {kNoLandlock,
     "The system has no Landlock, one of three fences between measured code and this user's files."},
    {kNoFilter, "The system has no filters of system calls: this machine refuses to measure any code."},
};

// The exit status of a process of our own; -1 if it did not run.
int AwaitStatus(pid_t process) {
  if (process < 0) return -1;
  int status = 0;
  pid_t waited = -1;
  do {
    waited = waitpid(process, &status, 0);
  } while (waited < 0 && errno == EINTR);
  return waited == process && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool HasPidNamespaces() {
  const pid_t child = ForkAlone();
  constexpr int kAlone = 1;
  if (child == 0) _exit(getpid() == 1 ? kAlone : 0);
  return AwaitStatus(child) == kAlone;
}

// The filter comes last, since it forbids to put up the others.
int TryFences() {
  int lacks = 0;
  if (!EnterNamespaces().ok()) lacks |= kNoNamespaces;
  if (!HasPidNamespaces()) lacks |= kNoPidNamespaces;
  if (!LeaveFiles().ok()) lacks |= kHasFiles;
  if (!ForbidFiles().ok()) lacks |= kNoLandlock;
  if (!ForbidSystemCalls(STDIN_FILENO, STDOUT_FILENO)) lacks |= kNoFilter;
  return lacks;
}

}  // namespace

std::vector<std::string> SandboxLacks() {
  const pid_t child = fork();
  if (child == 0) _exit(TryFences());
  const int status = AwaitStatus(child);
  if (status < 0)
    return {"The fences around measured code could not be tried: the process for it did not run."};
  std::vector<std::string> lacks;
  for (const Fence& fence : kFences) {
    if ((status & fence.bit) != 0) lacks.emplace_back(fence.lack);
  }
  return lacks;
}

}  // namespace attune

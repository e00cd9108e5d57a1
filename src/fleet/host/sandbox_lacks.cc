#include "fleet/host/sandbox_lacks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/process/sandbox.h"

namespace attune {
namespace {

// Bits of the trying process's exit status.
constexpr int kNoNamespaces = 1, kNoLandlock = 2, kNoFilter = 4;

struct Fence {
  int bit;
  const char* lack;
};
constexpr Fence kFences[] = {
    {kNoNamespaces,
     "The system gives processes no namespaces of their own: only the filter of system calls keeps measured "
     "code from the network."},
    {kNoLandlock,
     "The system has no Landlock: only the filter of system calls keeps measured code from this user's "
     "files."},
    {kNoFilter, "The system has no filters of system calls: it refuses to measure any code."},
};

// The filter comes last, since it forbids to put up the others.
int TryFences() {
  int lacks = 0;
  if (!EnterNamespaces().ok()) lacks |= kNoNamespaces;
  if (!ForbidFiles().ok()) lacks |= kNoLandlock;
  if (!ForbidSystemCalls(STDIN_FILENO, STDOUT_FILENO)) lacks |= kNoFilter;
  return lacks;
}

}  // namespace

std::vector<std::string> SandboxLacks() {
  const pid_t child = fork();
  if (child == 0) _exit(TryFences());
  int status = 0;
  pid_t waited = -1;
  do {
    waited = waitpid(child, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited != child || !WIFEXITED(status))
    return {"The fences around measured code could not be tried: the process for it did not run."};
  std::vector<std::string> lacks;
  for (const Fence& fence : kFences) {
    if ((WEXITSTATUS(status) & fence.bit) != 0) lacks.emplace_back(fence.lack);
  }
  return lacks;
}

}  // namespace attune

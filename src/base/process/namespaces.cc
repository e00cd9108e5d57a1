#include "base/process/namespaces.h"

#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/sanitized.h"

namespace attune {
namespace {

absl::Status SystemRefuses(const char* what) { return absl::ErrnoToStatus(errno, what); }

}  // namespace

absl::Status EnterNamespaces() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0) return absl::OkStatus();
  return SystemRefuses("the system gives this process no namespaces of its own");
}

absl::Status LeaveFiles() {
  if (kIsSanitized) return absl::UnimplementedError("the sanitizer's runtime needs files");
  // Any folder that is everywhere; only this process sees that something else is mounted on it.
  constexpr const char* kFolder = "/tmp";
  constexpr unsigned long kFlags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", kFolder, "tmpfs", kFlags, "size=4k") != 0 || chdir(kFolder) != 0)
    return SystemRefuses("the system gives this process no mounts of its own");
  // The old root comes to lie over the new one at the same place, from where it is taken away (pivot_root(2),
  // "pivot_root(".", ".")").
  if (syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0)
    return SystemRefuses("the system does not let this process leave its files");
  return chdir("/") == 0 ? absl::OkStatus() : SystemRefuses("the new root cannot be entered");
}

pid_t ForkAlone() {
  // The runtime of a sanitizer has to know of a fork.
  if (!kIsSanitized) {
    const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, 0, 0, 0, 0));
    if (child >= 0) return child;
  }
  return fork();
}

bool GiveUpCapabilities() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none = {};
  return syscall(SYS_capset, &header, none.data()) == 0;
}

}  // namespace attune

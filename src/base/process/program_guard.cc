#include "base/process/program_guard.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/sanitized.h"

namespace attune {
namespace {

constexpr int kNotStarted = 127;

// Like fork(), but without the handlers of libraries, which may wait for threads that this process has not.
pid_t ForkQuietly() {
  // The runtime of a sanitizer has to know of a fork.
  return kIsSanitized ? fork() : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

// The status of waitpid() of a process that was killed.
constexpr int kKilled = SIGKILL;

pid_t Reap(pid_t process, int* status, int flags = 0) {
  pid_t reaped = 0;
  do {
    reaped = waitpid(process, status, flags);
  } while (reaped < 0 && errno == EINTR);
  return reaped;
}

bool WriteTo(const char* path, std::string_view text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return is_written;
}

bool MountProc() { return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0; }

// Ends this process as another one has ended.
[[noreturn]] void EndAs(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  kill(getpid(), number);
  _exit(kNotStarted);
}

// Waits for a child's end, or to be told to end.
int AwaitSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  int number = 0;
  do {
    number = sigwaitinfo(&signals, nullptr);
  } while (number < 0);
  return number;
}

// Kills the children that this process has now. False if it cannot know them.
bool KillChildren() {
  const int file = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::array<char, 4096> text;
  pid_t child = 0;
  for (ssize_t count = 0; (count = read(file, text.data(), text.size())) > 0;) {
    for (const char c : std::string_view(text.data(), static_cast<size_t>(count))) {
      if (c >= '0' && c <= '9') {
        child = child * 10 + (c - '0');
      } else if (child > 0) {
        kill(child, SIGKILL);
        child = 0;
      }
    }
  }
  if (child > 0) kill(child, SIGKILL);
  close(file);
  return true;
}

// Each that ends may leave us others.
void EndChildren() {
  while (KillChildren()) {
    if (Reap(-1, nullptr) < 0) return;
  }
}

}  // namespace

ProgramGuard::ProgramGuard(const ProgramLaunch& launch, ProgramContainment containment)
    : launch_(launch),
      containment_(containment),
      users_(absl::StrCat(geteuid(), " ", geteuid(), " 1")),
      groups_(absl::StrCat(getegid(), " ", getegid(), " 1")) {}

bool ProgramGuard::LeaveNamespaces() const {
  constexpr int kOwn = CLONE_NEWPID | CLONE_NEWNS;
  if (unshare(kOwn) != 0) {
    const bool has_users = unshare(CLONE_NEWUSER) == 0 && WriteTo("/proc/self/setgroups", "deny") &&
                           WriteTo("/proc/self/uid_map", users_) && WriteTo("/proc/self/gid_map", groups_);
    if (!has_users || unshare(kOwn) != 0) return false;
  }
  // The namespace sees later mounts of the system; no other process sees those made here.
  return mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
}

// In a process that is thrown away: who has left cannot come back.
bool ProgramGuard::TryNamespaces() const {
  const pid_t trying = ForkQuietly();
  if (trying == 0) {
    if (!LeaveNamespaces()) _exit(1);
    const pid_t first = ForkQuietly();
    if (first == 0) _exit(getpid() == 1 && MountProc() ? 0 : 1);
    int status = 0;
    _exit(first > 0 && Reap(first, &status) == first && status == 0 ? 0 : 1);
  }
  int status = 0;
  return trying > 0 && Reap(trying, &status) == trying && status == 0;
}

bool ProgramGuard::HasNamespaces() { return ProgramGuard(ProgramLaunch{}).TryNamespaces(); }

void ProgramGuard::Run() const {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  signal(SIGCHLD, SIG_DFL);
  WatchParent();
  setpgid(0, 0);
  launch_.PlaceFiles();
  if (containment_ == ProgramContainment::kBest && TryNamespaces()) RunAlone();
  RunAdopting();
}

void ProgramGuard::WatchParent() const {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != launch_.parent) _exit(kNotStarted);  // it ended before it could be asked for
}

void ProgramGuard::RunAlone() const {
  int ended[2];
  if (pipe2(ended, O_CLOEXEC) != 0 || !LeaveNamespaces()) _exit(kNotStarted);
  WatchParent();  // once more, since other rights may have ended it
  const pid_t first = ForkQuietly();
  if (first == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!MountProc()) _exit(kNotStarted);
    const pid_t program = ForkQuietly();
    if (program == 0) launch_.ExecuteAfter(1);
    close_range(0, ProgramLaunch::kFailureFile, 0);
    // It adopts whatever the program leaves, until the program has ended.
    int status = 0;
    for (pid_t reaped = 0; program > 0 && reaped >= 0 && reaped != program;) reaped = Reap(-1, &status);
    _exit(program > 0 && write(ended[1], &status, sizeof(status)) > 0 ? 0 : kNotStarted);
  }
  close_range(0, ProgramLaunch::kFailureFile, 0);
  close(ended[1]);
  if (first < 0) _exit(kNotStarted);
  int status = kKilled;
  while (Reap(first, nullptr, WNOHANG) == 0) {
    if (AwaitSignal() != SIGTERM) continue;
    kill(first, SIGKILL);
    Reap(first, nullptr);
    EndAs(kKilled);
  }
  if (read(ended[0], &status, sizeof(status)) != sizeof(status)) status = kKilled;
  EndAs(status);
}

void ProgramGuard::RunAdopting() const {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t guard = getpid();
  const pid_t program = ForkQuietly();
  if (program == 0) launch_.ExecuteAfter(guard);
  close_range(0, ProgramLaunch::kFailureFile, 0);
  if (program < 0) _exit(kNotStarted);
  int status = kKilled;
  for (bool runs = true; runs && AwaitSignal() != SIGTERM;) {
    int other = 0;
    for (pid_t reaped = 0; (reaped = Reap(-1, &other, WNOHANG)) > 0;) {
      if (reaped != program) continue;
      status = other;
      runs = false;
    }
  }
  // EndChildren() needs /proc; without it, the program's group is ended at least.
  kill(-program, SIGKILL);
  EndChildren();
  EndAs(status);
}

}  // namespace attune

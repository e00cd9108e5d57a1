#include "base/process/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace attune {
namespace {

[[noreturn]] void Fail(int to) {
  const int error = errno;
  _exit(write(to, &error, sizeof(error)) > 0 ? 126 : 127);
}

}  // namespace

std::vector<char*> ArgumentPointers(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

void ProgramLaunch::Execute() const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it ended before it could be asked for
  PlaceFiles();
  ExecuteAfter(parent);
}

void ProgramLaunch::PlaceFiles() const {
  constexpr int kAway = 16;  // beyond the descriptors that are about to be used
  const int away_input = fcntl(input, F_DUPFD, kAway), away_output = fcntl(output, F_DUPFD, kAway);
  const int away_errors = fcntl(errors, F_DUPFD, kAway), away_failure = fcntl(failure, F_DUPFD, kAway);
  if (away_input < 0 || away_output < 0 || away_errors < 0 || away_failure < 0) Fail(failure);
  dup2(away_input, STDIN_FILENO);
  dup2(away_output, STDOUT_FILENO);
  dup2(away_errors, STDERR_FILENO);
  dup3(away_failure, kFailureFile, O_CLOEXEC);
  close_range(kFailureFile + 1, UINT_MAX, 0);
}

void ProgramLaunch::ExecuteAfter(pid_t before) const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != before) _exit(127);
  setpgid(0, 0);
  close_range(kFailureFile + 1, UINT_MAX, 0);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (*folder == '\0' || chdir(folder) == 0) execve(program, arguments, environ);
  Fail(kFailureFile);
}

}  // namespace attune

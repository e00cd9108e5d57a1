#include "base/process/companion_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/output_file.h"
#include "base/process/launch.h"
#include "base/process/pipe.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kStartSeconds = 60;  // until it is executed

absl::Status NotStarted(const std::string& program, int error) {
  return absl::ResourceExhaustedError(absl::StrCat(program, ": cannot be started: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompanionProcess>> CompanionProcess::Start(const std::string& program,
                                                                          std::vector<std::string> arguments,
                                                                          const std::string& folder,
                                                                          const std::string& log) {
  ASSIGN_OR_RETURN(const FileDescriptor output, OpenToAppend(log));
  const FileDescriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (input.get() < 0) return NotStarted(program, errno);
  ASSIGN_OR_RETURN(OutputPipe failure, OpenOutputPipe());
  const std::vector<char*> pointers = ArgumentPointers(arguments);
  const ProgramLaunch launch = {.program = program.c_str(),
                                .arguments = pointers.data(),
                                .folder = folder.c_str(),
                                .input = input.get(),
                                .output = output.get(),
                                .errors = output.get(),
                                .failure = failure.theirs.get(),
                                .parent = getpid()};
  const pid_t pid = fork();
  if (pid == 0) launch.Execute();
  if (pid < 0) return NotStarted(program, errno);
  std::unique_ptr<CompanionProcess> process(new CompanionProcess(pid));
  process->ended_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (process->ended_.get() < 0) return NotStarted(program, errno);
  failure.theirs.Close();
  int error = 0;
  CanRead(failure.ours.get(), kStartSeconds);  // it closes when the program is executed
  if (read(failure.ours.get(), &error, sizeof(error)) > 0) return NotStarted(program, error);
  return process;
}

CompanionProcess::~CompanionProcess() { Stop(0); }

std::optional<int> CompanionProcess::AwaitEnd(double seconds) {
  if (wait_status_ || !CanRead(ended_.get(), seconds)) return wait_status_;
  // It is not reaped yet, so that its number is its own: what it has left behind is still in its group.
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  wait_status_ = status;
  return wait_status_;
}

void CompanionProcess::Stop(double grace_seconds) {
  if (wait_status_) return;
  if (grace_seconds > 0) {
    kill(pid_, SIGTERM);
    if (AwaitEnd(grace_seconds)) return;
  }
  // It may not lead its group yet.
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  wait_status_ = status;
}

}  // namespace attune

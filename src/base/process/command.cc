#include "base/process/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file_descriptor.h"
#include "base/process/launch.h"
#include "base/process/message.h"
#include "base/process/pipe.h"
#include "base/status.h"

namespace attune {
namespace {

// Owns the actions and attributes of posix_spawn().
class Launch {
 public:
  Launch(int input, int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  ~Launch() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // Returns the errno, and sets `pid` if that is 0.
  int Start(std::vector<std::string> command, pid_t* pid) const {
    const std::vector<char*> arguments = ArgumentPointers(command);
    return posix_spawnp(pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_ = {};
  posix_spawnattr_t attributes_ = {};
};

// A program that runs, or has run.
class Running {
 public:
  static absl::StatusOr<std::unique_ptr<Running>> Start(const std::vector<std::string>& command,
                                                        const CommandStreams& streams) {
    const FileDescriptor input(open(streams.input.c_str(), O_RDONLY | O_CLOEXEC));
    if (input.get() < 0) return InvalidInput(streams.input, ": cannot be read: ", std::strerror(errno));
    ASSIGN_OR_RETURN(OutputPipe output, OpenOutputPipe());
    ASSIGN_OR_RETURN(OutputPipe errors, OpenOutputPipe());
    std::unique_ptr<Running> running(new Running());
    const int errors_to = streams.joins_errors ? output.theirs.get() : errors.theirs.get();
    const int error = Launch(input.get(), output.theirs.get(), errors_to).Start(command, &running->pid_);
    if (error == ENOENT || error == EACCES)
      return absl::NotFoundError(absl::StrCat("cannot be started: ", std::strerror(error)));
    if (error != 0)
      return absl::ResourceExhaustedError(absl::StrCat("cannot be started: ", std::strerror(error)));
    running->ended_ = FileDescriptor(static_cast<int>(syscall(SYS_pidfd_open, running->pid_, 0)));
    running->output_ = std::move(output.ours);
    running->errors_ = std::move(errors.ours);
    if (running->ended_.get() >= 0) return running;
    return absl::ResourceExhaustedError(absl::StrCat("cannot be waited for: ", std::strerror(errno)));
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (pid_ > 0) Reap();
  }

  absl::StatusOr<std::string> AwaitEnd(const CommandLimits& limits) {
    const Deadline deadline = After(limits.seconds);
    for (bool has_ended = false; !has_ended;) {
      pollfd waits[] = {{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}};
      const int ready = poll(waits, std::size(waits), PollTimeout(deadline));
      if (ready == 0)
        return absl::DeadlineExceededError(
            absl::StrCat("has not ended within ", limits.seconds, " s", printed_.Suffix()));
      if (ready < 0) continue;
      has_ended = waits[2].revents != 0;
      Read(errors_, [&](const std::string& text) { printed_.Add(text); });
      Read(output_, [&](const std::string& text) { text_ += text; });
      if (text_.size() > limits.output_bytes)
        return absl::ResourceExhaustedError(
            absl::StrCat("has printed more than ", limits.output_bytes, " bytes"));
    }
    const int status = Reap();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(text_);
    return absl::UnavailableError(absl::StrCat(DescribeWait(status), printed_.Suffix()));
  }

 private:
  Running() = default;

  // Takes what is there now, which once the program has ended is all that is left: a pipe holds no more than
  // one read returns.
  template <typename Take>
  static void Read(FileDescriptor& file, const Take& take) {
    const std::optional<std::string> text = ReadSome(file.get());
    if (!text) return;
    if (text->empty()) return file.Close();  // else poll() would return at once
    take(*text);
  }

  // Kills what is left of the group, and returns the status of waitpid().
  int Reap() {
    kill(-pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  pid_t pid_ = -1;
  FileDescriptor ended_;  // can be read once the program has ended
  FileDescriptor output_, errors_;
  std::string text_;
  PrintedErrors printed_;
};

}  // namespace

absl::StatusOr<std::string> RunCommand(const std::vector<std::string>& command, const CommandLimits& limits,
                                       const CommandStreams& streams) {
  absl::StatusOr<std::unique_ptr<Running>> running = Running::Start(command, streams);
  if (!running.ok()) return Annotate(running.status(), command.at(0));
  absl::StatusOr<std::string> output = (*running)->AwaitEnd(limits);
  if (!output.ok()) return Annotate(output.status(), command.at(0));
  return output;
}

}  // namespace attune

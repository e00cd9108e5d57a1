#include "kinds/program_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <iterator>
#include <utility>

#include "absl/strings/str_split.h"
#include "base/printable.h"
#include "base/process/launch.h"
#include "base/status.h"
#include "base/threads.h"
#include "device/pin_tree.h"
#include "device/topology.h"
#include "kinds/program_protocol.h"

namespace attune {
namespace {

constexpr double kStartSeconds = 60;  // until it is executed
constexpr double kGraceSeconds = 2;
constexpr int kMostLastReads = 64;

absl::Status SystemError(const char* what, int error) {
  return absl::ResourceExhaustedError(absl::StrCat("cannot be started: ", what, ": ", std::strerror(error)));
}

bool IsProgram(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

absl::StatusOr<std::string> FindProgram(const std::string& name, const std::string& folder) {
  if (name.find('/') != std::string::npos) {
    const std::filesystem::path path = std::filesystem::absolute(std::filesystem::path(folder) / name);
    if (IsProgram(path)) return path.string();
    return absl::NotFoundError(
        absl::StrCat("cannot be started: ", Printable(path.string()), " is not a file that can be executed"));
  }
  const char* path = std::getenv("PATH");
  for (const std::string_view entry : absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':')) {
    const std::filesystem::path program = std::filesystem::path(entry) / name;
    if (!entry.empty() && IsProgram(program)) return std::filesystem::absolute(program).string();
  }
  return absl::NotFoundError("cannot be started: no folder of PATH has a program of this name");
}

// Our end of a connection to the program, and its own.
struct Connection {
  FileDescriptor ours, theirs;
};

// A socket, since writing to a pipe without a reader raises a signal.
absl::StatusOr<Connection> SocketToProgram() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return SystemError("socketpair", errno);
  return Connection{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// The loop of the keeper: no signal of this process interrupts it.
void Keep(const ProgramGuard& guard, int ended, std::promise<pid_t>& started) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  const pid_t pid = fork();
  if (pid == 0) guard.Run();
  started.set_value(pid < 0 ? -errno : pid);  // from here on, the arguments may be gone
  siginfo_t info;
  // It is not reaped here, so that its number remains its own for as long as it may be killed.
  while (pid > 0 && waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  const uint64_t one = 1;
  if (write(ended, &one, sizeof(one)) < 0) std::abort();  // it cannot be full
}

}  // namespace

absl::Status ProgramProcess::StartKeeper(const std::string& program, std::vector<std::string> arguments,
                                         const std::string& folder, ProgramContainment containment) {
  ASSIGN_OR_RETURN(Connection input, SocketToProgram());
  ASSIGN_OR_RETURN(OutputPipe output, OpenOutputPipe());
  ASSIGN_OR_RETURN(OutputPipe errors, OpenOutputPipe());
  ASSIGN_OR_RETURN(OutputPipe failure, OpenOutputPipe());
  ended_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
  if (ended_.get() < 0) return SystemError("eventfd", errno);

  const std::vector<char*> pointers = ArgumentPointers(arguments);
  const ProgramLaunch launch = {.program = program.c_str(),
                                .arguments = pointers.data(),
                                .folder = folder.c_str(),
                                .input = input.theirs.get(),
                                .output = output.theirs.get(),
                                .errors = errors.theirs.get(),
                                .failure = failure.theirs.get(),
                                .parent = getpid()};
  std::promise<pid_t> started;
  std::future<pid_t> pid = started.get_future();
  const ProgramGuard guard(launch, containment);
  auto keep = [&guard, ended = ended_.get(), moved = std::move(started)]() mutable {
    Keep(guard, ended, moved);
  };
  if (!StartThread(keeper_, std::move(keep))) return SystemError("no thread", errno);
  pid_ = pid.get();
  if (pid_ < 0) return SystemError("fork", -pid_);
  input_ = std::move(input.ours);
  output_ = std::move(output.ours);
  errors_ = std::move(errors.ours);
  failure.theirs.Close();
  int error = 0;
  CanRead(failure.ours.get(), kStartSeconds);  // it closes when the program is executed
  if (read(failure.ours.get(), &error, sizeof(error)) <= 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("cannot be started in the folder \"", Printable(folder), "\": ", std::strerror(error)));
}

absl::StatusOr<std::unique_ptr<ProgramProcess>> ProgramProcess::Start(const std::vector<std::string>& command,
                                                                      const std::string& folder,
                                                                      ProgramContainment containment) {
  ASSIGN_OR_RETURN(const std::string program, FindProgram(command.at(0), folder));
  std::unique_ptr<ProgramProcess> process(new ProgramProcess());
  process->first_processors_ = AllowedProcessors();
  RETURN_IF_ERROR(process->StartKeeper(program, command, folder, containment));
  return process;
}

ProgramProcess::~ProgramProcess() { End(kGraceSeconds).IgnoreError(); }

absl::Status ProgramProcess::Send(std::string_view text, Deadline deadline) {
  while (!text.empty()) {
    const ssize_t sent = send(input_.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      text.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return absl::OkStatus();
    pollfd waits = {input_.get(), POLLOUT, 0};
    if (poll(&waits, 1, PollTimeout(deadline)) == 0)
      return absl::DeadlineExceededError("does not read its standard input");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> ProgramProcess::TakeLine() {
  const size_t end = output_text_.find('\n');
  if (std::min(end, output_text_.size()) > kMostLineBytes) {
    return InvalidInput("has sent a line of more than ", kMostLineBytes, " bytes: ", Printable(output_text_));
  }
  if (end == std::string::npos) return std::nullopt;
  std::string line = output_text_.substr(0, end);
  output_text_.erase(0, end + 1);
  return line;
}

absl::StatusOr<std::optional<std::string>> ProgramProcess::ReadLine(Deadline deadline, int wake) {
  for (;;) {
    if (!end_.ok()) return end_;
    ASSIGN_OR_RETURN(std::optional<std::string> line, TakeLine());
    if (line.has_value()) return line;
    pollfd waits[] = {
        {output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {ended_.get(), POLLIN, 0}, {wake, POLLIN, 0}};
    if (poll(waits, std::size(waits), PollTimeout(deadline)) < 0) continue;
    if (waits[1].revents != 0) ReadErrors();
    // Lines that it has sent before its end still count.
    const bool has_ended = waits[2].revents != 0;
    if (waits[0].revents != 0 || has_ended) {
      const std::optional<std::string> text = ReadSome(output_.get());
      if (text.has_value() ? text->empty() : has_ended) return End(kGraceSeconds);
      output_text_ += text.value_or("");
    }
    if (waits[3].revents != 0 || std::chrono::steady_clock::now() >= deadline) return TakeLine();
  }
}

void ProgramProcess::RunOn(std::span<const int> processors) {
  PinProcessTree(processors.empty() ? std::span<const int>(first_processors_) : processors, pid_);
}

void ProgramProcess::Kill() {
  if (end_.ok()) kill(pid_, SIGTERM);
}

bool ProgramProcess::ReadErrors() {
  const std::optional<std::string> text = ReadSome(errors_.get());
  if (!text.has_value()) return false;
  if (text->empty()) errors_.Close();  // else poll() would return at once
  printed_.Add(*text);
  return !text->empty();
}

absl::Status ProgramProcess::End(double grace_seconds) {
  if (!keeper_.joinable()) return end_;
  input_.Close();
  std::string how;
  int status = 0;
  if (pid_ > 0) {
    const bool ended_itself = CanRead(ended_.get(), grace_seconds);
    kill(pid_, SIGTERM);  // the guard, which ends all
    keeper_.join();
    pid_t waited = 0;
    do {
      waited = waitpid(pid_, &status, 0);
    } while (waited < 0 && errno == EINTR);
    how = !ended_itself    ? "it closed its output and stayed"
          : waited == pid_ ? DescribeWait(status)
                           : "it ended";
  } else {
    keeper_.join();
  }
  // Processes that the program has left behind may print until they are killed.
  for (int reads = 0; reads < kMostLastReads && ReadErrors(); ++reads) {
  }
  end_ = absl::UnavailableError(absl::StrCat("ended unexpectedly: ", how, printed_.Suffix()));
  return end_;
}

}  // namespace attune

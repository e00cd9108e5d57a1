#include "base/process/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/process/sibling_program.h"
#include "base/process/worker.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kPrintedBytes = 2000;                    // of the end of the output, in a reason
constexpr rlim_t kFileBytes = rlim_t{1} << 30;            // the most that a worker may write to one file
constexpr const char* kMemoryWords[] = {"out of memory",  // the words of LLVM and of the library
                                        "std::bad_alloc", "Cannot allocate memory"};

constexpr size_t kGreetingBytes = 256;  // the most that a greeting can have

std::atomic<int64_t> num_started = 0;  // workers

// Exit status of a child that could not become a worker; see kOutOfMemoryStatus and kCrashedStatus.
constexpr int kTooFewFilesStatus = 79;

// A worker runs machine code that is being tried out, and our environment may contain secrets and variables
// that change a program's behaviour. A worker therefore inherits only the variables that the system's
// loader, tools that watch a program, and HostTarget() need to give the same results as here.
constexpr std::string_view kInherited[] = {"ATTUNE_HOST_CPU",  "LD_LIBRARY_PATH", "TMPDIR",
                                           "ASAN_OPTIONS",     "TSAN_OPTIONS",    "UBSAN_OPTIONS",
                                           "LLVM_PROFILE_FILE"};
std::vector<char*> WorkerEnvironment(bool is_confined) {
  std::vector<char*> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!is_confined ||
        std::ranges::find(kInherited, text.substr(0, text.find('='))) != std::end(kInherited)) {
      variables.push_back(*variable);
    }
  }
  variables.push_back(nullptr);
  return variables;
}

absl::Status SystemError(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cannot start a worker: ", what, ": ", std::strerror(errno)));
}

void LimitTo(int resource, rlim_t value) {
  const rlimit limit = {value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// The work of the child between fork and exec. It only makes system calls, since other threads of this
// process may hold any lock.
struct Launch {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int socket, output;
  WorkerLimits limits;

  [[noreturn]] void Execute() const {
    constexpr int kAway = 16;  // beyond the descriptors that are about to be used
    const int away_socket = fcntl(socket, F_DUPFD, kAway), away_output = fcntl(output, F_DUPFD, kAway);
    const int null = fcntl(open("/dev/null", O_RDONLY), F_DUPFD, kAway);
    if (away_socket < 0 || away_output < 0 || null < 0) _exit(kTooFewFilesStatus);
    dup2(null, STDIN_FILENO);
    dup2(away_output, STDOUT_FILENO);
    dup2(away_output, STDERR_FILENO);
    dup2(away_socket, kWorkerSocket);
    close_range(kWorkerSocket + 1, UINT_MAX, 0);

    // An interrupt from the keyboard goes to all processes of a group. The parent handles it, and ends its
    // workers.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);

    LimitTo(RLIMIT_CORE, 0);
    if (limits.is_confined) LimitTo(RLIMIT_FSIZE, kFileBytes);
    if (limits.address_space_bytes > 0) LimitTo(RLIMIT_AS, static_cast<rlim_t>(limits.address_space_bytes));
    execve(program, arguments, environment);
    _exit(127);
  }
};

}  // namespace

ProcessEnd DescribeEnd(int wait_status) {
  ProcessEnd end;
  if (WIFSIGNALED(wait_status)) {
    const int number = WTERMSIG(wait_status);
    end.reason = absl::StrCat("signal ", number, " (", strsignal(number), ")");
    end.killed = number == SIGKILL || number == SIGTERM;
    if (number == SIGXCPU) end.cause = ProcessEnd::Cause::kTimedOut;
  } else {
    const int status = WEXITSTATUS(wait_status);
    end.reason = absl::StrCat("exit status ", status);
    if (status == kOutOfMemoryStatus) {
      end.cause = ProcessEnd::Cause::kOutOfMemory;
      end.reason = "out of memory";
    } else if (status == kTooFewFilesStatus) {
      end.reason = kTooFewFiles;
    }
  }
  return end;
}

absl::StatusOr<std::string> FindWorkerProgram(const std::string& given) {
  if (!given.empty()) return given;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string beside = self.parent_path() / "attune-worker";
  if (!error && access(beside.c_str(), X_OK) == 0) return beside;
  if (MainRunsWorkers()) return std::string("/proc/self/exe");
  const std::filesystem::path library = std::filesystem::path(FileOfThisCode()).parent_path();
  for (const std::filesystem::path& folder : {library, library / "attune"}) {
    std::string of_library = folder / "attune-worker";
    if (access(of_library.c_str(), X_OK) == 0) return of_library;
  }
  return absl::NotFoundError(absl::StrCat("there is no ", beside, ", and none in ", library.string(),
                                          "; it comes with Attune's library, so install that again"));
}

absl::StatusOr<std::unique_ptr<WorkerProcess>> WorkerProcess::Start(const std::string& program,
                                                                    const std::string& kind,
                                                                    const WorkerLimits& limits) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return SystemError("socketpair");
  FileDescriptor ours(sockets[0]);
  const FileDescriptor theirs(sockets[1]);
  FileDescriptor output(memfd_create("attune-worker-output", MFD_CLOEXEC));
  if (output.get() < 0) return SystemError("memfd_create");
  fcntl(output.get(), F_SETFL, O_APPEND);  // stdout and stderr share the file

  std::string flag = kWorkerFlag, kind_text = kind, name = program, build = BuildId();
  char* const arguments[] = {name.data(), flag.data(), kind_text.data(), build.data(), nullptr};
  const std::vector<char*> environment = WorkerEnvironment(limits.is_confined);
  const Launch launch = {program.c_str(), arguments, environment.data(), theirs.get(), output.get(), limits};
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess(program, std::move(ours), std::move(output)));
  worker->pid_ = fork();
  if (worker->pid_ == 0) launch.Execute();
  if (worker->pid_ < 0) return SystemError("fork");
  Log(LogLevel::kDebug, "worker started", "kind", kind, "pid", worker->pid_, "id", worker->id_);
  return worker;
}

WorkerProcess::WorkerProcess(std::string program, FileDescriptor socket, FileDescriptor output)
    : id_(num_started.fetch_add(1)),
      program_(std::move(program)),
      socket_(std::move(socket)),
      output_(std::move(output)) {}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) Stop();
}

absl::Status WorkerProcess::AwaitReady(Deadline deadline) {
  const absl::StatusOr<std::string> greeting = ReceiveMessage(socket(), deadline, kGreetingBytes);
  is_ready_ = greeting.ok() && *greeting == WorkerGreeting();
  if (is_ready_) return absl::OkStatus();
  const ProcessEnd end = Stop();
  return absl::FailedPreconditionError(
      absl::StrCat(program_, " does not serve as a worker of this version: ",
                   greeting.ok() ? "it greets in another way" : std::string(greeting.status().message()),
                   "; ", end.reason));
}

absl::Status WorkerProcess::Send(const std::string& request, Deadline deadline) {
  if (ftruncate(output_.get(), 0) != 0) return SystemError("ftruncate");
  return SendMessage(socket(), request, deadline);
}

std::string WorkerProcess::PrintedEnd() const {
  const off_t size = lseek(output_.get(), 0, SEEK_END);
  std::string text(std::min<size_t>(kPrintedBytes, size < 0 ? 0 : static_cast<size_t>(size)), '\0');
  const ssize_t got = pread(output_.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

ProcessEnd WorkerProcess::Stop(double grace_seconds) {
  if (pid_ < 0) return {.reason = "it ended"};
  int status = 0;
  pid_t waited = 0;
  for (const Deadline deadline = After(grace_seconds); waited == 0;) {
    waited = waitpid(pid_, &status, WNOHANG);
    if (waited != 0 || std::chrono::steady_clock::now() >= deadline) break;
    poll(nullptr, 0, 1);
  }
  if (waited == 0) {
    kill(pid_, SIGKILL);
    do {
      waited = waitpid(pid_, &status, 0);
    } while (waited < 0 && errno == EINTR);
  }
  pid_ = -1;
  socket_.Close();
  // If someone else has waited for the process, we only know that it ended.
  ProcessEnd end = waited > 0 ? DescribeEnd(status) : ProcessEnd{.reason = "it ended"};
  const std::string printed = PrintedEnd();
  for (const char* words : kMemoryWords) {
    if (printed.find(words) != std::string::npos) end.cause = ProcessEnd::Cause::kOutOfMemory;
  }
  if (!printed.empty()) absl::StrAppend(&end.reason, "; it printed: ", printed);
  Log(LogLevel::kDebug, "worker ended", "id", id_, "how", end.reason);
  return end;
}

}  // namespace attune

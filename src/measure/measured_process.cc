#include "measure/measured_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/process/message.h"
#include "base/process/namespaces.h"
#include "base/process/worker_process.h"
#include "measure/measured_child.h"

namespace attune {
namespace {

constexpr double kSetUpSeconds = 60;
constexpr double kSlowdown = 20;  // a batch that is slower than expected by more than this factor hangs

Failure OutOfTurn() {
  return {TrialOutcome::kInvalidTiming, "the process under measurement answered out of turn"};
}

uint64_t RandomNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number))
    number = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return number;
}

// Waits until a reply can be read or the child is gone; false if neither happens before the deadline.
bool AwaitReply(int replies, Deadline deadline) {
  for (;;) {
    pollfd entry = {replies, POLLIN, 0};
    const int ready = poll(&entry, 1, PollTimeout(deadline));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool MakePipe(FileDescriptor* out, FileDescriptor* in) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  *out = FileDescriptor(ends[0]);
  *in = FileDescriptor(ends[1]);
  return true;
}

std::string SignalName(int number) { return absl::StrCat("signal ", number, " (", strsignal(number), ")"); }

}  // namespace

bool MeasuredProcess::MapShared() {
  const size_t bytes = std::max<size_t>(program_.shared_bytes(), 1);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared_ = static_cast<std::byte*>(memory);
  return true;
}

std::unique_ptr<MeasuredProcess> MeasuredProcess::Start(MeasuredProgram& program,
                                                        std::span<const int> processors, Failure* failure) {
  std::unique_ptr<MeasuredProcess> process(new MeasuredProcess(program));
  FileDescriptor commands, replies;  // for the child
  if (!process->MapShared() || !MakePipe(&commands, &process->commands_) ||
      !MakePipe(&process->replies_, &replies)) {
    *failure = {TrialOutcome::kRetry, absl::StrCat("no means to start a process: ", std::strerror(errno))};
    return nullptr;
  }
  process->pid_ = ForkAlone();
  if (process->pid_ == 0)
    RunMeasuredChild(program, commands.get(), replies.get(), process->shared_, processors);
  if (process->pid_ < 0) {
    *failure = {TrialOutcome::kRetry, absl::StrCat("fork: ", std::strerror(errno))};
    return nullptr;
  }
  commands.Close();
  replies.Close();
  if (auto failed = process->AwaitSetUp()) {
    *failure = *std::move(failed);
    return nullptr;
  }
  return process;
}

std::optional<Failure> MeasuredProcess::AwaitSetUp() {
  if (!AwaitReply(replies_.get(), After(kSetUpSeconds)))
    return Failure{TrialOutcome::kRetry, absl::StrCat("was not set up within ", kSetUpSeconds, " s")};
  ChildReply reply;
  if (auto unread = Read(&reply, "it was set up")) return unread;
  if (reply.what == ChildReply::kCrashed) return DescribeCrash(reply);
  if (reply.what != ChildReply::kSetUp) return OutOfTurn();
  switch (static_cast<SetUpResult>(reply.value)) {
    case SetUpResult::kReady:
      return std::nullopt;
    case SetUpResult::kNoMemory:
      return Failure{TrialOutcome::kOutOfMemory, "the system does not have the memory that it needs"};
    case SetUpResult::kNoThreads:
      return Failure{TrialOutcome::kRetry,
                     absl::StrCat("the system does not have ", program_.threads(), " threads")};
    case SetUpResult::kRefused:
      return Failure{TrialOutcome::kCrashed, program_.Refusal(shared_)};
    case SetUpResult::kNoFiles:
      return Failure{TrialOutcome::kRetry, kTooFewFiles};
    case SetUpResult::kNoSandbox:
      return Failure{TrialOutcome::kRetry, "the system has no filters for system calls"};
  }
  return OutOfTurn();
}

MeasuredProcess::~MeasuredProcess() {
  int status = 0;
  if (pid_ > 0) Kill(&status);
  if (shared_ != nullptr) munmap(shared_, std::max<size_t>(program_.shared_bytes(), 1));
}

void MeasuredProcess::Kill(int* status) {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

// Reads an available reply. Fails if the child has closed its pipe, or if something in it wrote data that
// is not a reply.
std::optional<Failure> MeasuredProcess::Read(ChildReply* reply, const std::string& waiting_for) {
  const ssize_t got = read(replies_.get(), reply, sizeof(*reply));
  if (got == sizeof(*reply)) return std::nullopt;
  return got > 0 ? OutOfTurn() : Reap(waiting_for);
}

// Reaps a child that closed its pipe, and says why it ended.
Failure MeasuredProcess::Reap(const std::string& waiting_for) {
  int status = 0;
  Kill(&status);
  const ProcessEnd end = DescribeEnd(status);
  // The system may have killed it for lack of memory.
  const TrialOutcome outcome = end.killed ? TrialOutcome::kRetry : OutcomeOf(end);
  return {outcome, absl::StrCat("ended with ", end.reason, " before ", waiting_for)};
}

Failure MeasuredProcess::DescribeCrash(const ChildReply& reply) {
  int status = 0;
  Kill(&status);
  if (reply.system_call >= 0)
    return {TrialOutcome::kCrashed, absl::StrCat("made system call ", reply.system_call)};
  if (reply.value == SIGXCPU) return {TrialOutcome::kTimedOut, SignalName(reply.value)};
  std::string where;
  if (reply.is_stack != 0) where = " at the end of the stack";
  if (reply.buffer >= 0)
    where = absl::StrCat(" at byte ", reply.offset, " of ", program_.NameOf(reply.buffer));
  return {TrialOutcome::kCrashed, absl::StrCat(SignalName(reply.value), where)};
}

std::optional<Failure> MeasuredProcess::Ask(int what, int64_t count, double seconds_limit) {
  if (pid_ < 0) return Failure{TrialOutcome::kRetry, "the process under measurement is gone"};
  if (AwaitReply(replies_.get(), Deadline())) {
    ChildReply early;  // a thread crashed, or the kernel itself wrote to the pipe
    const auto unread = Read(&early, "it was asked");
    return unread ? unread : OutOfTurn();
  }
  turn_ = RandomNumber();
  const ChildCommand command = {turn_, what, count};
  if (write(commands_.get(), &command, sizeof(command)) != sizeof(command)) return Reap("it was asked");
  if (!AwaitReply(replies_.get(), After(seconds_limit))) {
    int status = 0;
    Kill(&status);
    return Failure{TrialOutcome::kTimedOut, absl::StrCat("did not end within ", seconds_limit, " s")};
  }
  ChildReply reply;
  if (const auto unread = Read(&reply, "it answered")) return unread;
  if (reply.what == ChildReply::kCrashed) return DescribeCrash(reply);
  if (reply.turn != turn_) return OutOfTurn();
  if (reply.what == ChildReply::kFailed)
    return Failure{TrialOutcome::kCrashed, absl::StrCat("an execution returned ", reply.value)};
  if (reply.what == ChildReply::kOverwritten) {
    return Failure{TrialOutcome::kWrongResult,
                   absl::StrCat("wrote out of bounds, beside ", program_.NameOf(reply.value))};
  }
  return std::nullopt;
}

std::optional<Failure> MeasuredProcess::Poison() {
  return Ask(ChildCommand::kPoison, 0, program_.execution_seconds_limit() + kSetUpSeconds);
}

std::optional<Failure> MeasuredProcess::Move() {
  return Ask(ChildCommand::kMove, 0, program_.execution_seconds_limit());
}

std::optional<Failure> MeasuredProcess::Run(int64_t executions, double* seconds) {
  const double count = static_cast<double>(executions), limit = program_.execution_seconds_limit();
  const Stopwatch watch;
  std::optional<Failure> failure =
      Ask(ChildCommand::kRun, executions,
          std::min(limit + kSlowdown * each_ * count, limit * std::max(count, 1.0)));
  *seconds = watch.Seconds();
  if (executions > 0 && executions >= most_executions_) {
    most_executions_ = executions;
    each_ = *seconds / count;
  }
  return failure;
}

std::optional<Failure> MeasuredProcess::Profile() {
  return Ask(ChildCommand::kProfile, 0, 2 * program_.execution_seconds_limit());
}

std::optional<Failure> MeasuredProcess::Fetch() {
  return Ask(ChildCommand::kFetch, 0, program_.execution_seconds_limit() + kSetUpSeconds);
}

}  // namespace attune

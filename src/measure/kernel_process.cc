#include "measure/kernel_process.h"

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
#include "base/checked.h"
#include "base/process/message.h"
#include "measure/kernel_child.h"

namespace attune {
namespace {

constexpr double kSetUpSeconds = 60;
constexpr double kSlowdown = 20;  // of a batch, compared to what it is expected to take, that is no hang yet

Failure OutOfTurn() { return {TrialOutcome::kInvalidTiming, "the kernel answered out of turn"}; }

uint64_t RandomNumber() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number))
    number = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  return number;
}

// Whether a reply can be read, or the child is gone, by then.
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

bool KernelProcess::MapShared() {
  size_t end =
      static_cast<size_t>(RoundUp(std::ssize(setup_.dims) * static_cast<int64_t>(sizeof(int64_t)), 64));
  for (const KernelBuffer& buffer : setup_.buffers) {
    places_.push_back(end);
    if (buffer.use == BufferUse::kOutput) end += static_cast<size_t>(RoundUp(buffer.bytes, 64));
  }
  shared_bytes_ = std::max<size_t>(end, 1);
  void* memory = mmap(nullptr, shared_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  shared_ = static_cast<std::byte*>(memory);
  return true;
}

std::unique_ptr<KernelProcess> KernelProcess::Start(const KernelSetup& setup, Failure* failure) {
  std::unique_ptr<KernelProcess> process(new KernelProcess(setup));
  FileDescriptor commands, replies;  // the child's ends
  if (!process->MapShared() || !MakePipe(&commands, &process->commands_) ||
      !MakePipe(&process->replies_, &replies)) {
    *failure = {TrialOutcome::kRetry, absl::StrCat("no means to start a kernel: ", std::strerror(errno))};
    return nullptr;
  }
  const pid_t runner = getpid();
  process->pid_ = fork();
  if (process->pid_ == 0)
    RunKernelChild(setup, runner, commands.get(), replies.get(), process->shared_, process->places_);
  if (process->pid_ < 0) {
    *failure = {TrialOutcome::kRetry, absl::StrCat("fork: ", std::strerror(errno))};
    return nullptr;
  }
  commands.Close();
  replies.Close();
  if (!AwaitReply(process->replies_.get(), After(kSetUpSeconds))) {
    *failure = {TrialOutcome::kRetry, absl::StrCat("was not set up within ", kSetUpSeconds, " s")};
    return nullptr;
  }
  KernelReply ready;
  if (const auto unread = process->Read(&ready, "the kernel was set up")) {
    *failure = *unread;
    return nullptr;
  }
  if (ready.what == KernelReply::kReady) return process;
  if (ready.what == KernelReply::kNoMemory) {
    *failure = {TrialOutcome::kOutOfMemory, "the system does not have the memory that the kernel needs"};
  } else if (ready.what == KernelReply::kNoThreads) {
    *failure = {TrialOutcome::kRetry, absl::StrCat("the system does not have ", setup.threads, " threads")};
  } else if (ready.what == KernelReply::kNoFiles) {
    *failure = {TrialOutcome::kRetry, kTooFewFiles};
  } else {
    *failure = {TrialOutcome::kRetry, "the system has no filters for system calls"};
  }
  return nullptr;
}

KernelProcess::~KernelProcess() {
  int status = 0;
  if (pid_ > 0) Kill(&status);
  if (shared_ != nullptr) munmap(shared_, shared_bytes_);
}

void KernelProcess::Kill(int* status) {
  kill(pid_, SIGKILL);
  while (waitpid(pid_, status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string KernelProcess::NameOf(int buffer) const {
  const auto index = static_cast<size_t>(buffer);
  return buffer >= 0 && index < setup_.names.size() ? setup_.names[index] : "a buffer";
}

// Reads a reply that is there. A failure where the child has closed its pipe instead, or something in it
// wrote there what is no reply.
std::optional<Failure> KernelProcess::Read(KernelReply* reply, const std::string& waiting_for) {
  const ssize_t got = read(replies_.get(), reply, sizeof(*reply));
  if (got == sizeof(*reply)) return std::nullopt;
  return got > 0 ? OutOfTurn() : Bury(waiting_for);
}

// Says why a child that closed its pipe ended.
Failure KernelProcess::Bury(const std::string& waiting_for) {
  int status = 0;
  Kill(&status);
  const ProcessEnd end = DescribeEnd(status);
  // The system may have done that, for want of memory.
  const TrialOutcome outcome = end.killed ? TrialOutcome::kRetry : OutcomeOf(end);
  return {outcome, absl::StrCat("ended with ", end.reason, " before ", waiting_for)};
}

std::optional<Failure> KernelProcess::Ask(int what, int64_t count, double seconds_limit) {
  if (pid_ < 0) return Failure{TrialOutcome::kRetry, "the kernel's process is gone"};
  if (AwaitReply(replies_.get(), Deadline())) {
    KernelReply early;  // a crash of one of its threads, or something that the kernel wrote itself
    const auto unread = Read(&early, "it was asked");
    return unread ? unread : OutOfTurn();
  }
  turn_ = RandomNumber();
  const KernelCommand command = {turn_, what, count};
  if (write(commands_.get(), &command, sizeof(command)) != sizeof(command)) return Bury("it was asked");
  if (!AwaitReply(replies_.get(), After(seconds_limit))) {
    int status = 0;
    Kill(&status);
    return Failure{TrialOutcome::kTimedOut, absl::StrCat("did not end within ", seconds_limit, " s")};
  }
  KernelReply reply;
  if (const auto unread = Read(&reply, "it answered")) return unread;
  if (reply.what == KernelReply::kCrashed) {
    int status = 0;
    Kill(&status);
    if (reply.system_call >= 0)
      return Failure{TrialOutcome::kCrashed, absl::StrCat("made system call ", reply.system_call)};
    std::string where;
    if (reply.is_stack != 0) where = " at the end of the stack";
    if (reply.buffer >= 0) where = absl::StrCat(" at byte ", reply.offset, " of ", NameOf(reply.buffer));
    return Failure{TrialOutcome::kCrashed, absl::StrCat(SignalName(reply.value), where)};
  }
  if (reply.turn != turn_) return OutOfTurn();
  if (reply.what == KernelReply::kFailed)
    return Failure{TrialOutcome::kCrashed, absl::StrCat("the kernel returned ", reply.value)};
  if (reply.what == KernelReply::kOverwritten) {
    return Failure{TrialOutcome::kWrongResult,
                   absl::StrCat("wrote out of bounds, beside ", NameOf(reply.value))};
  }
  return std::nullopt;
}

std::optional<Failure> KernelProcess::Poison() {
  return Ask(KernelCommand::kPoison, 0, setup_.execution_seconds_limit + kSetUpSeconds);
}

std::optional<Failure> KernelProcess::Move() {
  return Ask(KernelCommand::kMove, 0, setup_.execution_seconds_limit);
}

std::optional<Failure> KernelProcess::Run(int64_t executions, double* seconds) {
  const double count = static_cast<double>(executions), limit = setup_.execution_seconds_limit;
  const auto start = std::chrono::steady_clock::now();
  std::optional<Failure> failure =
      Ask(KernelCommand::kRun, executions,
          std::min(limit + kSlowdown * each_ * count, limit * std::max(count, 1.0)));
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (executions > 0 && executions >= most_executions_) {
    most_executions_ = executions;
    each_ = *seconds / count;
  }
  return failure;
}

std::optional<Failure> KernelProcess::Fetch() {
  return Ask(KernelCommand::kFetch, 0, setup_.execution_seconds_limit + kSetUpSeconds);
}

std::span<const std::byte> KernelProcess::Output(size_t buffer) const {
  return {shared_ + places_[buffer], static_cast<size_t>(setup_.buffers[buffer].bytes)};
}

std::span<const int64_t> KernelProcess::Dims() const {
  return {reinterpret_cast<const int64_t*>(shared_), setup_.dims.size()};
}

}  // namespace attune

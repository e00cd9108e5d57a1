#include "measure/kernel_child.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <fstream>
#include <memory>

#include "base/process/sandbox.h"
#include "device/affinity.h"
#include "device/tile_permission.h"
#include "measure/kernel_memory.h"
#include "runtime/device.h"

namespace attune {
namespace {

// The first beyond the standard ones, which every limit of open files allows.
constexpr int kCommands = 3, kReplies = 4;
constexpr int64_t kSpareBytes = int64_t{1} << 30;  // for what mappings round up to

// For the signal handler; the process runs one kernel.
const KernelMemory* crash_memory = nullptr;

bool Send(const KernelReply& reply, int replies = kReplies) {
  return write(replies, &reply, sizeof(reply)) == sizeof(reply);
}

void SendCrash(const Crash& crash) {
  KernelReply reply;
  reply.what = KernelReply::kCrashed;
  reply.value = crash.signal;
  reply.address = reinterpret_cast<uint64_t>(crash.address);
  reply.system_call = crash.system_call;
  reply.is_stack = crash.is_stack ? 1 : 0;
  int buffer = -1;
  if (!crash.is_stack && crash_memory->Locate(crash.address, &buffer, &reply.offset)) reply.buffer = buffer;
  Send(reply);
}

// Leaves nothing open but the two pipes, at their numbers, and the standard streams. False
// where the system does not allow two more files for a moment.
bool KeepFiles(int commands, int replies) {
  constexpr int kAway = kReplies + 1;  // beyond the numbers that are about to be taken
  commands = fcntl(commands, F_DUPFD, kAway);
  replies = fcntl(replies, F_DUPFD, kAway);
  if (commands < 0 || replies < 0) return false;
  if (dup2(commands, kCommands) < 0 || dup2(replies, kReplies) < 0) return false;
  close_range(kAway, UINT_MAX, 0);
  return true;
}

// Where the system runs out of memory it ends this process, and not the tuner or what else is there.
void BeTheFirstToGo() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

// Of address space, for each thread that is started.
int64_t StackBytes() {
  pthread_attr_t attributes;
  size_t stack = 0, guard = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &stack);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return static_cast<int64_t>(stack + guard);
}

class KernelChild {
 public:
  KernelChild(const KernelSetup& setup, std::byte* shared, const std::vector<size_t>& places)
      : setup_(setup), shared_(shared), places_(places) {}

  // What is answered then.
  KernelReply::What SetUp() {
    const KernelCode& code = *setup_.code;
    SandboxLimits limits;
    limits.cpu_seconds = setup_.cpu_seconds_limit;
    limits.address_space_bytes =
        kSpareBytes + setup_.threads * StackBytes() +
        AddressBytes(setup_.buffers, setup_.placement, code.scratch_bytes, setup_.threads);
    ApplyLimits(limits);
    if (!memory_.Allocate(setup_.buffers, setup_.placement, code.scratch_bytes, setup_.threads))
      return KernelReply::kNoMemory;
    code_ = CpuDevice().LoadCode(std::as_bytes(std::span(code.bytes)));
    dims_ = setup_.dims;
    if (code_ == nullptr) return KernelReply::kNoMemory;
    if (!CpuDevice().CreateStream(setup_.threads, &stream_).ok()) return KernelReply::kNoThreads;
    crash_memory = &memory_;
    MayUseTiles();  // the code may, and cannot ask any more
    ReportCrashes(SendCrash);
    return ForbidSystemCalls(kCommands, kReplies) ? KernelReply::kReady : KernelReply::kNoSandbox;
  }

  // Serves the runner for good.
  void Serve() {
    KernelCommand command;
    while (read(kCommands, &command, sizeof(command)) == sizeof(command)) {
      KernelReply reply;
      reply.turn = command.turn;
      if (command.what == KernelCommand::kPoison) {
        memory_.PoisonOutputs();
        std::ranges::copy(setup_.dims, dims_.begin());
      } else if (command.what == KernelCommand::kMove) {
        ++moves_;
      } else if (command.what == KernelCommand::kRun) {
        reply.value = Run(command.count);
        if (reply.value != 0) reply.what = KernelReply::kFailed;
      } else {
        reply.value = Fetch();
        if (reply.value >= 0) reply.what = KernelReply::kOverwritten;
      }
      if (!Send(reply)) return;
    }
  }

 private:
  // As a session runs it.
  int32_t Run(int64_t count) {
    int32_t failure = 0;
    stream_->BeginRun();
    for (; count > 0 && failure == 0; --count) {
      memory_.Choose(executions_++, moves_);
      memory_.PoisonLines();
      for (const KernelCode::Phase& phase : setup_.code->phases) {
        const auto kernel = reinterpret_cast<KernelFunction>(code_.get() + phase.offset);
        failure = stream_->Launch({kernel, memory_.buffers(), dims_.data(), memory_.scratch(),
                                   memory_.scratch_stride(), phase.parallel ? setup_.threads : 1});
        if (failure != 0) break;
      }
    }
    stream_->EndRun();
    return failure;
  }

  int Fetch() const {
    std::memcpy(shared_, dims_.data(), dims_.size() * sizeof(int64_t));
    void* const* const buffers = memory_.buffers();
    for (size_t i = 0; i < setup_.buffers.size(); ++i) {
      const KernelBuffer& buffer = setup_.buffers[i];
      if (buffer.use == BufferUse::kOutput)
        std::memcpy(shared_ + places_[i], buffers[i], static_cast<size_t>(buffer.bytes));
    }
    return memory_.FindOverwritten();
  }

  const KernelSetup& setup_;
  std::byte* shared_;
  const std::vector<size_t>& places_;
  KernelMemory memory_;
  DeviceMemory code_;
  std::unique_ptr<Stream> stream_;
  std::vector<int64_t> dims_;
  int64_t executions_ = 0, moves_ = 0;
};

}  // namespace

void RunKernelChild(const KernelSetup& setup, pid_t runner, int commands, int replies, std::byte* shared,
                    const std::vector<size_t>& places) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != runner) _exit(0);  // it was too late
  BeTheFirstToGo();
  KernelReply ready;
  if (!KeepFiles(commands, replies)) {
    ready.what = KernelReply::kNoFiles;
    Send(ready, replies);
    _exit(0);
  }
  const OnSameProcessors processors(setup.threads);
  KernelChild child(setup, shared, places);
  ready.what = child.SetUp();
  if (Send(ready) && ready.what == KernelReply::kReady) child.Serve();
  _exit(0);  // without destructors: the filter forbids what they do
}

}  // namespace attune

#include "measure/measured_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <climits>
#include <fstream>

#include "base/process/sandbox.h"
#include "device/pin.h"
#include "device/tile_permission.h"

namespace attune {
namespace {

// The first beyond the standard ones, which every limit of open files allows.
constexpr int kCommands = 3, kReplies = 4;

// For the signal handler; the process runs one program.
const MeasuredProgram* crashing_program = nullptr;

bool Send(const ChildReply& reply, int replies = kReplies) {
  return write(replies, &reply, sizeof(reply)) == sizeof(reply);
}

ChildReply HowItIsSetUp(SetUpResult result) {
  ChildReply reply;
  reply.what = ChildReply::kSetUp;
  reply.value = static_cast<int32_t>(result);
  return reply;
}

void SendCrash(const Crash& crash) {
  ChildReply reply;
  reply.what = ChildReply::kCrashed;
  reply.value = crash.signal;
  reply.address = reinterpret_cast<uint64_t>(crash.address);
  reply.system_call = crash.system_call;
  reply.is_stack = crash.is_stack ? 1 : 0;
  int buffer = -1;
  if (!crash.is_stack && crashing_program->Locate(crash.address, &buffer, &reply.offset))
    reply.buffer = buffer;
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

SetUpResult SetUp(MeasuredProgram& program, std::byte* shared) {
  // A subject may crash while it is set up, since a network's weights are prepacked then.
  crashing_program = &program;
  MayUseTiles();  // the code may, and cannot ask any more
  ReportCrashes(SendCrash);
  const SetUpResult result = program.SetUp(shared);
  if (result != SetUpResult::kReady) return result;
  return ForbidSystemCalls(kCommands, kReplies) ? SetUpResult::kReady : SetUpResult::kNoSandbox;
}

// Does what it is told, for good.
void Serve(MeasuredProgram& program) {
  ChildCommand command;
  while (read(kCommands, &command, sizeof(command)) == sizeof(command)) {
    ChildReply reply;
    reply.turn = command.turn;
    if (command.what == ChildCommand::kPoison) {
      program.Poison();
    } else if (command.what == ChildCommand::kMove) {
      program.Move();
    } else if (command.what == ChildCommand::kFetch) {
      reply.value = program.Fetch();
      if (reply.value >= 0) reply.what = ChildReply::kOverwritten;
    } else {
      reply.value = command.what == ChildCommand::kRun ? program.Run(command.count) : program.Profile();
      if (reply.value != 0) reply.what = ChildReply::kFailed;
    }
    if (!Send(reply)) return;
  }
}

}  // namespace

void RunMeasuredChild(MeasuredProgram& program, pid_t parent, int commands, int replies, std::byte* shared,
                      std::span<const int> processors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);  // it was too late
  BeTheFirstToGo();
  if (!KeepFiles(commands, replies)) {
    Send(HowItIsSetUp(SetUpResult::kNoFiles), replies);
    _exit(0);
  }
  const PinnedTo pinned(processors);
  const SetUpResult result = SetUp(program, shared);
  if (Send(HowItIsSetUp(result)) && result == SetUpResult::kReady) Serve(program);
  _exit(0);  // without destructors: the filter forbids what they do
}

}  // namespace attune

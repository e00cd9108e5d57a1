#include "measure/measured_child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <climits>

#include "base/process/namespaces.h"
#include "base/process/sandbox.h"
#include "device/pin.h"
#include "device/tile_permission.h"

namespace attune {
namespace {

// The first numbers after the standard streams; every limit of open files allows them.
constexpr int kCommands = 3, kReplies = 4;

// A global for the signal handler; the process runs one program.
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

// Closes all files except the two pipes, which get fixed numbers, and the standard streams. Returns false
// if the system does not allow two more open files for a moment.
bool KeepFiles(int commands, int replies) {
  constexpr int kAway = kReplies + 1;  // beyond the numbers that are about to be used
  commands = fcntl(commands, F_DUPFD, kAway);
  replies = fcntl(replies, F_DUPFD, kAway);
  if (commands < 0 || replies < 0) return false;
  if (dup2(commands, kCommands) < 0 || dup2(replies, kReplies) < 0) return false;
  close_range(kAway, UINT_MAX, 0);
  return true;
}

// Whether the parent has not ended before this process asked to end with it. A process that is alone in its
// PID namespace cannot ask for the number of its parent, but only the parent has the other end of the pipe.
bool HasParent() {
  pollfd entry = {kCommands, 0, 0};
  return poll(&entry, 1, 0) == 0;
}

// Puts up the fences that stand while the program is set up, as far as the system has them. Returns false if
// it has no filter, which is required.
bool FenceIn() {
  MayUseTiles();  // asks now, since the code may use tiles but cannot ask later
  GiveUpCapabilities();
  ForbidFiles().IgnoreError();
  return ForbidAllButComputing(LoadingCode::kAllowed);
}

SetUpResult SetUp(MeasuredProgram& program, std::byte* shared) {
  // A subject may crash during setup, since a network's weights are prepacked there by its own code.
  crashing_program = &program;
  if (!FenceIn()) return SetUpResult::kNoSandbox;
  ReportCrashes(SendCrash);
  const SetUpResult result = program.SetUp(shared);
  if (result != SetUpResult::kReady) return result;
  return ForbidSystemCalls(kCommands, kReplies) ? SetUpResult::kReady : SetUpResult::kNoSandbox;
}

// Executes commands until the pipe closes.
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

void RunMeasuredChild(MeasuredProgram& program, int commands, int replies, std::byte* shared,
                      std::span<const int> processors) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!KeepFiles(commands, replies)) {
    Send(HowItIsSetUp(SetUpResult::kNoFiles), replies);
    _exit(0);
  }
  if (!HasParent()) _exit(0);
  const PinnedTo pinned(processors);
  const SetUpResult result = SetUp(program, shared);
  if (Send(HowItIsSetUp(result)) && result == SetUpResult::kReady) Serve(program);
  _exit(0);  // without destructors, since they use forbidden system calls
}

}  // namespace attune

// For tests: kernels that attack the machine that they are measured on, or the measurement. To add one, add a
// row to a table.
#ifndef ATTUNE_MEASURE_HOSTILE_KERNELS_FOR_TEST_H_
#define ATTUNE_MEASURE_HOSTILE_KERNELS_FOR_TEST_H_

#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "measure/hostile_code_for_test.h"
#include "measure/kernel.h"
#include "measure/measured_child.h"
#include "measure/outcome.h"
#include "measure/sum_kernel_for_test.h"

namespace attune {

struct HostileKernel {
  std::string name = {};
  BuiltKernel kernel = {};
  // The outcomes that a check may have. A timing is never ok.
  std::set<TrialOutcome> outcomes = {};
  std::string reason = {};  // a part of the check's
};

// The targets of their attacks.
struct HostileTargets {
  std::string credentials = {};  // the name of a file
  std::string folder = {};
  pid_t process = 0;
};

inline HostileKernel MakeHostile(std::string name, const HostileCode& code, std::set<TrialOutcome> outcomes,
                                 std::string reason = "") {
  HostileKernel hostile = {
      .name = std::move(name), .outcomes = std::move(outcomes), .reason = std::move(reason)};
  hostile.kernel = SumKernel();
  hostile.kernel.code.bytes = code.Finish();
  hostile.kernel.code.phases = {{0, /*parallel=*/false}};
  hostile.kernel.code.scratch_bytes = 64;
  return hostile;
}

// A kernel that makes a system call and computes as if nothing had happened. The call ends it.
struct HostileCall {
  const char* name = "";
  int64_t number = 0;
  std::vector<CallArgument> arguments = {};
};

inline std::vector<HostileCall> CallsOnProcesses(const HostileTargets& targets) {
  const CallArgument victim = targets.process;
  return {
      {"forks", SYS_fork},
      {"vforks", SYS_vfork},
      {"clones itself", SYS_clone, {SIGCHLD, 0, 0, 0, 0}},
      {"clones itself in the newer way", SYS_clone3, {Stack(), 88}},
      {"starts a thread", SYS_clone, {CLONE_VM | CLONE_THREAD | CLONE_SIGHAND, Stack(), 0, 0, 0}},
      {"starts a shell", SYS_execve, {Text("/bin/sh"), 0, 0}},
      {"traces another process", SYS_ptrace, {PTRACE_ATTACH, victim, 0, 0}},
      {"reads another process's memory", SYS_process_vm_readv, {victim, Stack(), 1, Stack(), 1, 0}},
      {"writes another process's memory", SYS_process_vm_writev, {victim, Stack(), 1, Stack(), 1, 0}},
      {"kills all processes", SYS_kill, {-1, SIGKILL}},
      {"kills a process", SYS_kill, {victim, SIGKILL}},
      {"kills a thread", SYS_tgkill, {victim, victim, SIGKILL}},
      {"takes another process's files", SYS_pidfd_open, {victim, 0}},
      {"asks for its parent", SYS_getppid},
      {"raises another's limits", SYS_prlimit64, {victim, RLIMIT_AS, Stack(), 0}},
  };
}

inline std::vector<HostileCall> CallsOnTheNetwork() {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(22);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const CallArgument loopback = Bytes(BytesOf(address));
  return {
      {"opens an IPv4 socket", SYS_socket, {AF_INET, SOCK_STREAM, 0}},
      {"opens an IPv6 socket", SYS_socket, {AF_INET6, SOCK_DGRAM, 0}},
      {"opens a Unix socket", SYS_socket, {AF_UNIX, SOCK_STREAM, 0}},
      {"opens a netlink socket", SYS_socket, {AF_NETLINK, SOCK_RAW, 0}},
      {"connects to loopback", SYS_connect, {3, loopback, sizeof(address)}},
      {"sends a packet", SYS_sendto, {4, Stack(), 64, 0, loopback, sizeof(address)}},
      {"listens", SYS_listen, {3, 1}},
  };
}

inline std::vector<HostileCall> CallsOnFiles(const HostileTargets& targets) {
  constexpr int kCreate = O_WRONLY | O_CREAT;
  const CallArgument credentials = Text(targets.credentials);
  const auto inside = [&](const char* name) { return Text(absl::StrCat(targets.folder, "/", name)); };
  return {
      {"opens the list of users", SYS_open, {Text("/etc/passwd"), O_RDONLY}},
      {"opens itself in /proc", SYS_openat, {AT_FDCWD, Text("/proc/self/mem"), O_RDWR}},
      {"opens its parent's files", SYS_openat, {AT_FDCWD, Text("/proc/self/fd/3"), O_RDWR}},
      {"writes to the working folder", SYS_openat, {AT_FDCWD, Text("planted"), kCreate, 0600}},
      {"writes to another folder", SYS_openat, {AT_FDCWD, inside("planted"), kCreate, 0600}},
      {"removes a file", SYS_unlink, {credentials}},
      {"renames a file", SYS_rename, {credentials, inside("renamed")}},
      {"truncates a file", SYS_truncate, {credentials, 0}},
      {"opens a file to everyone", SYS_chmod, {credentials, 0777}},
      {"makes a folder", SYS_mkdir, {inside("folder"), 0700}},
      {"mounts", SYS_mount, {Text("none"), Text("/tmp"), Text("tmpfs"), 0, 0}},
      {"changes its root", SYS_chroot, {Text("/")}},
      {"makes an anonymous file", SYS_memfd_create, {Text("file"), 0}},
      {"writes to standard output", SYS_write, {1, Text("text"), 4}},
      {"reads standard input", SYS_read, {0, Output(), 4}},
      {"closes the pipe of replies", SYS_close, {4}},
      {"replaces the pipe of replies", SYS_dup2, {1, 4}},
      {"duplicates the pipe of commands", SYS_fcntl, {3, F_DUPFD, 0}},
  };
}

inline std::vector<HostileCall> CallsOnTheSystem() {
  const CallArgument second = Bytes(BytesOf(timespec{1, 0}));
  // If a fence should fail, the machine that tests it keeps its clock.
  const CallArgument no_time = Bytes(BytesOf(timespec{1, -1}));
  const CallArgument unlimited = Bytes(BytesOf(rlimit{RLIM_INFINITY, RLIM_INFINITY}));
  return {
      {"becomes another user", SYS_setuid, {0}},
      {"takes capabilities", SYS_capset, {Stack(), Stack()}},
      {"takes namespaces", SYS_unshare, {CLONE_NEWUSER}},
      {"enters namespaces", SYS_setns, {3, 0}},
      {"makes an io_uring", SYS_io_uring_setup, {8, Stack()}},
      {"uses an io_uring", SYS_io_uring_enter, {3, 1, 1, 1, 0, 0}},
      {"loads a BPF program", SYS_bpf, {5, Stack(), 64}},
      {"counts events", SYS_perf_event_open, {Stack(), 0, -1, -1, 0}},
      {"handles page faults", SYS_userfaultfd, {0}},
      {"loads a module", SYS_init_module, {Stack(), 64, Text("")}},
      {"reads the kernel's log", SYS_syslog, {3, Stack(), 64}},
      {"takes a key", SYS_keyctl, {0, -3, 1}},
      {"maps new code", SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
      {"makes its code writable", SYS_mprotect, {OwnCode(), 4096, PROT_READ | PROT_WRITE | PROT_EXEC}},
      {"takes shared memory", SYS_shmget, {1, 4096, 0666}},
      {"takes more memory", SYS_brk, {int64_t{1} << 40}},
      {"handles a signal", SYS_rt_sigaction, {SIGSEGV, Stack(), 0, 8}},
      {"sets its own clock", SYS_clock_settime, {CLOCK_REALTIME, no_time}},
      {"sets the time of day", SYS_settimeofday, {no_time, 0}},
      {"adjusts the clock", SYS_clock_adjtime, {CLOCK_REALTIME, Stack()}},
      {"changes its personality", SYS_personality, {0x0040000}},
      {"changes its attributes", SYS_prctl, {1, 0, 0, 0, 0}},
      {"raises its limits", SYS_setrlimit, {RLIMIT_AS, unlimited}},
      {"takes another priority", SYS_setpriority, {PRIO_PROCESS, 0, -20}},
      {"takes other processors", SYS_sched_setaffinity, {0, 8, Bytes(std::string(8, '\xFF'))}},
      {"is scheduled before others", SYS_sched_setscheduler, {0, SCHED_FIFO, Bytes(BytesOf(1))}},
      {"sleeps", SYS_nanosleep, {second, 0}},
      {"sets a timer", SYS_alarm, {1}},
      {"restarts the machine", SYS_reboot, {0, 0, 0, 0}},
      {"calls in the x32 way", 0x40000000 + SYS_fork},
      {"makes a call that does not exist", 100000},
  };
}

inline HostileKernel MakeHostile(const HostileCall& call) {
  return MakeHostile(call.name, HostileCode().Call(call.number, call.arguments).Sum(),
                     {TrialOutcome::kCrashed}, absl::StrCat("made system call ", call.number));
}

// Kernels that take more than their share, or what is not theirs.
inline std::vector<HostileKernel> GreedyKernels(const HostileTargets& targets) {
  using enum TrialOutcome;
  return {
      MakeHostile("forks again and again", HostileCode().Call(SYS_fork).Again(), {kCrashed},
                  "system call 57"),
      MakeHostile("reads the credentials into its output",
                  HostileCode()
                      .Call(SYS_openat, {AT_FDCWD, Text(targets.credentials), O_RDONLY})
                      .Call(SYS_read, {LastResult(), Output(), 64}),
                  {kCrashed}, "system call 257"),
      MakeHostile(
          "maps memory again and again",
          HostileCode()
              .Call(SYS_mmap, {0, 1 << 30, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0})
              .Again(),
          {kCrashed}, "system call 9"),
      MakeHostile("fills its stack", HostileCode().Raw("\x50").Again(), {kCrashed}, "end of the stack"),
      MakeHostile("never ends", HostileCode().HangForever(), {kTimedOut}),
      MakeHostile("blocks all signals and never ends",
                  HostileCode()
                      .Call(SYS_rt_sigprocmask, {SIG_BLOCK, Bytes(std::string(8, '\xFF')), 0, 8})
                      .HangForever(),
                  {kTimedOut}),
      MakeHostile("yields for ever", HostileCode().Call(SYS_sched_yield).Again(), {kTimedOut}),
      MakeHostile("ends its process", HostileCode().Call(SYS_exit_group, {0}), {kCrashed}, "exit status 0"),
      MakeHostile("ends its thread", HostileCode().Call(SYS_exit, {0}), {kCrashed}, "exit status 0"),
  };
}

// Kernels that do not do their work in the time that is measured.
inline std::vector<HostileKernel> DeceitfulKernels() {
  using enum TrialOutcome;
  using namespace std::string_view_literals;
  constexpr auto kReplyBytes = static_cast<int64_t>(sizeof(ChildReply));
  constexpr int kCommands = 3, kReplies = 4;
  const CallArgument done = Bytes(BytesOf(ChildReply()));
  // Computes unless the condition holds for which `test` jumps.
  const auto sum_unless = [](std::string_view test) {
    const size_t distance = HostileCode().Sum().Finish().size() - HostileCode().Finish().size();
    return HostileCode().Raw(test).Raw(std::string(1, static_cast<char>(distance))).Sum();
  };
  return {
      MakeHostile("replies before it computes",
                  HostileCode().Call(SYS_write, {kReplies, done, kReplyBytes}).Sum(), {kInvalidTiming},
                  "out of turn"),
      MakeHostile("replies with nonsense", HostileCode().Call(SYS_write, {kReplies, Text("x"), 1}).Sum(),
                  {kInvalidTiming}, "out of turn"),
      MakeHostile("floods the pipe of replies",
                  HostileCode().Call(SYS_write, {kReplies, done, kReplyBytes}).Again(), {kInvalidTiming},
                  "out of turn"),
      MakeHostile("takes the commands", HostileCode().Call(SYS_read, {kCommands, Stack(), 64}).Sum(),
                  {kTimedOut}),
      MakeHostile("finds the number of the turn and replies with it before it computes",
                  HostileCode()
                      .Raw("\x48\x89\xE6"                       // mov rsi, rsp
                           "\x48\x83\xC6\x08"                   // add rsi, 8
                           "\x83\x7E\x08\x02\x75\xF6"           // cmp [rsi + 8], kRun; jne the add
                           "\x48\x83\x7E\x10\x01\x75\xEF"       // cmp [rsi + 16], 1; jne the add
                           "\x48\x8B\x06\x48\x89\x04\x24"       // mov rax, [rsi]; mov [rsp], rax
                           "\x48\xC7\x44\x24\x08\x01\0\0\0"sv)  // mov [rsp + 8], kDone
                      .Call(SYS_write, {kReplies, Stack(), kReplyBytes})
                      .Sum(),
                  {kInvalidTiming}, "out of turn"),
      MakeHostile("does not compute", HostileCode(), {kWrongResult}),
      MakeHostile("computes only the first time",
                  sum_unless("\x41\xFF\x45\x00\x75"sv),  // inc [r13], which is -1 at first; jnz
                  {kWrongResult}, "the second time"),
      MakeHostile("computes only until it has been checked",
                  sum_unless("\x41\xFF\x45\x00\x41\x83\x7D\x00\x04\x7F"sv),  // inc [r13]; cmp [r13], 4; jg
                  {kOk}),
      MakeHostile("computes only if it has not just run, as it does while it is timed",
                  sum_unless("\x0F\x31\x48\xC1\xE2\x20\x48\x09\xD0"  // rdtsc; shl rdx, 32; or rax, rdx
                             "\x49\x8B\x55\x00\x49\x89\x45\x00"      // mov rdx, [r13]; mov [r13], rax
                             "\x48\x29\xD0\x48\x3D\x00\x00\x10\x00"  // sub rax, rdx; cmp rax, 1 << 20
                             "\x72"sv),                              // jb
                  {kOk, kWrongResult}),
  };
}

// Kernels that write or jump where they must not.
inline std::vector<HostileKernel> BrokenKernels() {
  using enum TrialOutcome;
  using namespace std::string_view_literals;
  return {
      MakeHostile("writes behind its output",
                  HostileCode().Sum().Raw("\x49\x8B\x7C\x24\x10\xC6\x87\x00\x06\x00\x00\x01"sv),
                  {kCrashed, kWrongResult}),
      MakeHostile("writes before its output", HostileCode().Sum().Raw("\x49\x8B\x7C\x24\x10\xC6\x47\xF8\x01"),
                  {kWrongResult}, "out of bounds"),
      MakeHostile("changes its input", HostileCode().Raw("\x49\x8B\x3C\x24\xC7\x07\0\0\0\0"sv).Sum(),
                  {kCrashed}, "input 0"),
      MakeHostile("changes its code", HostileCode().Raw("\xC6\x05\x00\x00\x00\x00\x90"sv).Sum(), {kCrashed},
                  "signal 11"),
      MakeHostile("jumps to its stack", HostileCode().Raw("\xFF\xE4"), {kCrashed}, "signal 11"),
      MakeHostile("jumps to address 0", HostileCode().Raw("\x31\xC0\xFF\xE0"), {kCrashed}, "signal 11"),
      MakeHostile("breaks", HostileCode().Raw("\xCC"), {kCrashed}, "signal 5"),
      MakeHostile("executes no instruction", HostileCode().Raw("\x0F\x0B"), {kCrashed}, "signal 4"),
      MakeHostile("halts the processor", HostileCode().Raw("\xF4"), {kCrashed}, "signal 11"),
      MakeHostile("divides by zero", HostileCode().Raw("\x31\xC9\xF7\xF1"), {kCrashed}, "signal 8"),
      // Calls of 32 bits have other numbers, so the filter must not take them for others.
      MakeHostile("calls in the 32-bit way", HostileCode().Raw("\xB8\x02\0\0\0\xCD\x80"sv).Sum(), {kCrashed}),
      MakeHostile("loses its stack", HostileCode().Raw("\x31\xE4\xCC"), {kCrashed}),
  };
}

inline std::vector<HostileKernel> HostileKernels(const HostileTargets& targets) {
  std::vector<HostileKernel> all;
  for (const auto& kernels : {GreedyKernels(targets), DeceitfulKernels(), BrokenKernels()})
    all.insert(all.end(), kernels.begin(), kernels.end());
  for (const auto& calls :
       {CallsOnProcesses(targets), CallsOnTheNetwork(), CallsOnFiles(targets), CallsOnTheSystem()}) {
    for (const HostileCall& call : calls) all.push_back(MakeHostile(call));
  }
  return all;
}

}  // namespace attune

#endif  // ATTUNE_MEASURE_HOSTILE_KERNELS_FOR_TEST_H_

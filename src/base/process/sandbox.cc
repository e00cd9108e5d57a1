#include "base/process/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace attune {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATTUNE_SANITIZED 1
#endif
#endif
#ifndef ATTUNE_SANITIZED
#define ATTUNE_SANITIZED 0
#endif

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

// From `value` on, the process receives a signal or an error; it can never have more than `most`.
void LimitTo(int resource, int64_t value, int64_t most) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(most)};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}
void LimitTo(int resource, int64_t value) { LimitTo(resource, value, value); }

// The address space of this process, in bytes.
int64_t AddressSpace() {
  int64_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

sock_filter Instruction(uint16_t code, uint32_t operand, uint8_t if_true = 0, uint8_t if_false = 0) {
  return {code, if_true, if_false, operand};
}

constexpr uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kIfEqual = BPF_JMP | BPF_JEQ | BPF_K,
                   kReturn = BPF_RET | BPF_K;

// Allows `call` only on the file `fd`.
void AllowOnFile(std::vector<sock_filter>& filter, uint32_t call, int fd) {
  filter.push_back(Instruction(kIfEqual, call, 0, 4));
  filter.push_back(Instruction(kLoad, offsetof(seccomp_data, args)));  // lower half of the argument
  filter.push_back(Instruction(kIfEqual, static_cast<uint32_t>(fd), 0, 1));
  filter.push_back(Instruction(kReturn, SECCOMP_RET_ALLOW));
  filter.push_back(Instruction(kReturn, SECCOMP_RET_TRAP));
}

std::vector<sock_filter> MakeFilter(int in, int out) {
  std::vector<sock_filter> filter = {
      Instruction(kLoad, offsetof(seccomp_data, arch)),
      Instruction(kIfEqual, kArchitecture, 1, 0),
      Instruction(kReturn, SECCOMP_RET_KILL_PROCESS),
      Instruction(kLoad, offsetof(seccomp_data, nr)),
  };
  AllowOnFile(filter, SYS_read, in);
  AllowOnFile(filter, SYS_write, out);
  // The last three are the first calls of a new thread, which may come after the filter is installed.
  for (const uint32_t call :
       {SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_sched_yield, SYS_restart_syscall,
        SYS_clock_gettime, SYS_rt_sigprocmask, SYS_set_robust_list, SYS_rseq}) {
    filter.push_back(Instruction(kIfEqual, call, 0, 1));
    filter.push_back(Instruction(kReturn, SECCOMP_RET_ALLOW));
  }
  filter.push_back(Instruction(kReturn, SECCOMP_RET_TRAP));
  return filter;
}

// A global, because the handler takes no argument of ours. Set before the handler can run.
void (*crash_report)(const Crash&) = nullptr;

uintptr_t StackPointer(const void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP]);
#else
  return static_cast<const ucontext_t*>(context)->uc_mcontext.sp;
#endif
}

void HandleCrash(int signal, siginfo_t* info, void* context) {
  constexpr uintptr_t kFrame = 1 << 20;  // the most that a function may use below its stack pointer
  Crash crash;
  crash.signal = signal;
  if (signal == SIGSYS) {
    crash.system_call = info->si_syscall;
  } else {
    crash.address = info->si_addr;
    const uintptr_t stack = StackPointer(context), at = reinterpret_cast<uintptr_t>(info->si_addr);
    crash.is_stack = signal == SIGSEGV && at + kFrame > stack && at < stack + kFrame;
  }
  crash_report(crash);
  _exit(kCrashedStatus);
}

}  // namespace

void ApplyLimits(const SandboxLimits& limits) {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  LimitTo(RLIMIT_CORE, 0);
  LimitTo(RLIMIT_FSIZE, 0);
  LimitTo(RLIMIT_STACK, limits.stack_bytes);
  constexpr int64_t kSpare = 2;  // seconds: for the time used so far, and between SIGXCPU and SIGKILL
  const auto cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + kSpare +
                   static_cast<int64_t>(std::min(limits.cpu_seconds, 1e9));
  LimitTo(RLIMIT_CPU, cpu, cpu + kSpare);
  // Sanitizers map terabytes of address space that they do not use.
  if (!ATTUNE_SANITIZED) LimitTo(RLIMIT_AS, AddressSpace() + limits.address_space_bytes);
}

bool ForbidSystemCalls(int in, int out) {
  std::vector<sock_filter> filter = MakeFilter(in, out);
  const sock_fprog program = {static_cast<uint16_t>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

void ReportCrashes(void (*report)(const Crash& crash)) {
  constexpr size_t kHandlerBytes = 64 << 10;
  // The system first saves all registers on this stack, which may take more room than the handler needs:
  // tiles are 8 KiB.
  static std::vector<std::byte> stack(getauxval(AT_MINSIGSTKSZ) + kHandlerBytes);
  crash_report = report;
  stack_t own = {};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  sigaltstack(&own, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = HandleCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT})
    sigaction(signal, &action, nullptr);
}

}  // namespace attune

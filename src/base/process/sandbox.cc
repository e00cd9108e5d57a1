#include "base/process/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "base/file_descriptor.h"
#include "base/sanitized.h"

namespace attune {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#endif

// Rights of later versions of Landlock than the headers'.
constexpr uint64_t kReferRight = uint64_t{1} << 13;     // files move between folders
constexpr uint64_t kTruncateRight = uint64_t{1} << 14;  // files are cut by their names

// From `value` on, the process receives a signal or an error; it can never have more than `most`.
void LimitTo(int resource, int64_t value, int64_t most) {
  const rlimit limit = {static_cast<rlim_t>(value), static_cast<rlim_t>(most)};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}
void LimitTo(int resource, int64_t value) { LimitTo(resource, value, value); }

// Whether this process may map one more page if its address space is limited to `bytes`.
bool HasRoomWithin(int64_t bytes, const rlimit& before) {
  const rlimit limit = {static_cast<rlim_t>(bytes), before.rlim_max};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) munmap(memory, page);
  setrlimit(RLIMIT_AS, &before);
  return memory != MAP_FAILED;
}

// The address space of this process, in bytes. Found by bisection, since the process may have no /proc to
// ask.
int64_t AddressSpace() {
  constexpr int64_t kMost = int64_t{1} << 57;  // of any processor
  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  const int64_t page = sysconf(_SC_PAGESIZE);
  int64_t too_few = 0;
  auto enough = static_cast<int64_t>(std::min<rlim_t>(before.rlim_max, kMost)) / page;
  while (enough - too_few > 1) {
    const int64_t middle = too_few + (enough - too_few) / 2;
    (HasRoomWithin(middle * page, before) ? enough : too_few) = middle;
  }
  return too_few * page;
}

sock_filter Instruction(uint16_t code, uint32_t operand, uint8_t if_true = 0, uint8_t if_false = 0) {
  return {code, if_true, if_false, operand};
}

constexpr uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kIfEqual = BPF_JMP | BPF_JEQ | BPF_K,
                   kIfAnyBit = BPF_JMP | BPF_JSET | BPF_K, kReturn = BPF_RET | BPF_K;
constexpr uint32_t kAllow = SECCOMP_RET_ALLOW, kTrap = SECCOMP_RET_TRAP;

// A filter of system calls: the first rule that names a call decides. Calls that no rule names raise SIGSYS.
class CallFilter {
 public:
  CallFilter()
      : program_({Instruction(kLoad, offsetof(seccomp_data, arch)),
                  Instruction(kIfEqual, kArchitecture, 1, 0), Instruction(kReturn, SECCOMP_RET_KILL_PROCESS),
                  Instruction(kLoad, offsetof(seccomp_data, nr))}) {}

  void Decide(std::initializer_list<uint32_t> calls, uint32_t decision) {
    for (const uint32_t call : calls) {
      program_.push_back(Instruction(kIfEqual, call, 0, 1));
      program_.push_back(Instruction(kReturn, decision));
    }
  }
  // Decides by the lower half of an argument: whether it is `value`, or has any of the bits of `value`.
  void DecideByArgument(uint32_t call, size_t argument, uint16_t condition, uint32_t value, uint32_t if_true,
                        uint32_t if_false) {
    program_.push_back(Instruction(kIfEqual, call, 0, 4));
    program_.push_back(Instruction(
        kLoad, static_cast<uint32_t>(offsetof(seccomp_data, args) + argument * sizeof(uint64_t))));
    program_.push_back(Instruction(condition, value, 0, 1));
    program_.push_back(Instruction(kReturn, if_true));
    program_.push_back(Instruction(kReturn, if_false));
  }

  // Applies the filter to all threads of this process. Returns false if the system has no such filters.
  bool Install() {
    program_.push_back(Instruction(kReturn, kTrap));
    const sock_fprog program = {static_cast<uint16_t>(program_.size()), program_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  std::vector<sock_filter> program_;
};

// The calls by which threads wait, tell the time and end. The last three are the first calls of a new thread,
// which may come after the filter is installed.
void AllowThreads(CallFilter& filter) {
  filter.Decide({SYS_futex, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_sched_yield, SYS_restart_syscall,
                 SYS_clock_gettime, SYS_rt_sigprocmask, SYS_set_robust_list, SYS_rseq},
                kAllow);
}

// 0 if there is none.
long LandlockVersion() {
  return std::max<long>(
      0, syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, LANDLOCK_CREATE_RULESET_VERSION));
}

// All rights to files that the system's Landlock knows; those of its first version if it does not say.
uint64_t LandlockRights() {
  constexpr int kRefers = 2, kTruncates = 3;  // the versions from which on it knows these rights
  constexpr uint64_t kFirstRights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  const long version = LandlockVersion();
  return kFirstRights | (version >= kRefers ? kReferRight : 0) | (version >= kTruncates ? kTruncateRight : 0);
}

// Adds a rule. Returns false if the system refuses it.
bool Allow(int rules, const AllowedFiles& files, uint64_t handled) {
  constexpr uint64_t kReads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  // The rights that apply to files, as distinct from folders.
  constexpr uint64_t kOfFiles = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                LANDLOCK_ACCESS_FS_EXECUTE | kTruncateRight;
  struct stat status = {};
  if (fstat(files.open, &status) != 0) return false;
  uint64_t rights = kReads;
  if (files.use == FileUse::kExecute) rights |= LANDLOCK_ACCESS_FS_EXECUTE;
  if (files.use == FileUse::kChange) rights = ~uint64_t{0};
  if (!S_ISDIR(status.st_mode)) rights &= kOfFiles;
  const landlock_path_beneath_attr rule = {.allowed_access = rights & handled, .parent_fd = files.open};
  return syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

constexpr uint32_t Fails(int error) { return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error); }

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
  } else if (signal != SIGXCPU) {
    crash.address = info->si_addr;
    const uintptr_t stack = StackPointer(context), at = reinterpret_cast<uintptr_t>(info->si_addr);
    crash.is_stack = signal == SIGSEGV && at + kFrame > stack && at < stack + kFrame;
  }
  crash_report(crash);
  _exit(kCrashedStatus);
}

// Says which system call was forbidden; the signal comes again when this handler returns, and ends the
// process.
void NameForbiddenCall(int /*signal*/, siginfo_t* info, void* /*context*/) {
  char text[64];
  const int length = std::snprintf(text, sizeof(text), "system call %d is forbidden\n", info->si_syscall);
  if (write(STDERR_FILENO, text, static_cast<size_t>(length)) == length) raise(SIGSYS);
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
  if (!kIsSanitized) LimitTo(RLIMIT_AS, AddressSpace() + limits.address_space_bytes);
}

absl::Status ForbidFiles(std::span<const AllowedFiles> allowed) {
  // A right that a ruleset handles and no rule grants is denied.
  const uint64_t handled = LandlockRights();
  const landlock_ruleset_attr attributes = {.handled_access_fs = handled};
  const FileDescriptor rules(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0)));
  bool is_done = rules.get() >= 0;
  for (const AllowedFiles& files : allowed) is_done = is_done && Allow(rules.get(), files, handled);
  if (is_done && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
      syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0)
    return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "the system cannot take this process's files away");
}

bool CanForbidFiles() { return LandlockVersion() > 0; }

absl::Status ForbidPeersBut(int port) {
  constexpr int kKnowsNetwork = 4, kKnowsSignals = 6;  // versions of Landlock
  constexpr uint64_t kBind = 1, kConnect = 2, kSignals = 2, kAbstractSockets = 1;
  constexpr int kPortRule = 2;
  // As linux/landlock.h has them, in versions later than ours.
  const struct {
    uint64_t files, network, scoped;
  } attributes = {0, kBind | kConnect, LandlockVersion() >= kKnowsSignals ? kSignals | kAbstractSockets : 0};
  const struct {
    uint64_t allowed, port;
  } rule = {kConnect, static_cast<uint64_t>(port)};
  const size_t size = attributes.scoped != 0 ? sizeof(attributes) : 2 * sizeof(uint64_t);
  if (LandlockVersion() < kKnowsNetwork)
    return absl::UnimplementedError("the system cannot take this process's network away (Linux 6.7)");
  const FileDescriptor rules(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (rules.get() >= 0 &&
      (port == 0 || syscall(SYS_landlock_add_rule, rules.get(), kPortRule, &rule, 0) == 0) &&
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0)
    return attributes.scoped != 0
               ? absl::OkStatus()
               : absl::UnimplementedError("the system cannot keep this process from signals (Linux 6.12)");
  return absl::ErrnoToStatus(errno, "the system cannot take this process's network away");
}

void BeAmongTheFirstToGo() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

bool ForbidSystemCalls(int in, int out) {
  CallFilter filter;
  filter.DecideByArgument(SYS_read, 0, kIfEqual, static_cast<uint32_t>(in), kAllow, kTrap);
  filter.DecideByArgument(SYS_write, 0, kIfEqual, static_cast<uint32_t>(out), kAllow, kTrap);
  AllowThreads(filter);
  return filter.Install();
}

bool ForbidAllButComputing(LoadingCode loading) {
  if (kIsSanitized) return true;
  CallFilter filter;
  AllowThreads(filter);
  // Threads, but no processes. The C library does without clone3, whose flags a filter cannot see.
  filter.DecideByArgument(SYS_clone, 0, kIfAnyBit, CLONE_THREAD, kAllow, kTrap);
  filter.Decide({SYS_clone3}, Fails(ENOSYS));
  const uint32_t executable = loading == LoadingCode::kAllowed ? kAllow : Fails(EACCES);
  for (const uint32_t call : {SYS_mmap, SYS_mprotect})
    filter.DecideByArgument(call, 2, kIfAnyBit, PROT_EXEC, executable, kAllow);
  filter.Decide({SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_membarrier}, kAllow);
  // Files, as far as Landlock allows.
  filter.Decide({SYS_read,     SYS_write,      SYS_readv,     SYS_writev,       SYS_pread64,    SYS_pwrite64,
                 SYS_lseek,    SYS_close,      SYS_ftruncate, SYS_fallocate,    SYS_fcntl,      SYS_dup,
                 SYS_fstat,    SYS_newfstatat, SYS_statx,     SYS_faccessat,    SYS_readlinkat, SYS_getcwd,
                 SYS_openat,   SYS_pipe2,      SYS_eventfd2,  SYS_memfd_create, SYS_recvmsg,    SYS_sendmsg,
                 SYS_recvfrom, SYS_sendto,     SYS_ppoll},
                kAllow);
#if defined(__x86_64__)
  filter.Decide({SYS_poll, SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink}, kAllow);
#endif
  // This process itself: its limits, its signal handlers, and abort().
  filter.DecideByArgument(SYS_prlimit64, 0, kIfEqual, 0, kAllow, kTrap);
  filter.DecideByArgument(SYS_tgkill, 0, kIfEqual, static_cast<uint32_t>(getpid()), kAllow, kTrap);
  filter.Decide({SYS_rt_sigaction, SYS_sigaltstack, SYS_getpid, SYS_gettid, SYS_getrusage, SYS_getrandom,
                 SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sysinfo, SYS_uname, SYS_clock_nanosleep,
                 SYS_nanosleep},
                kAllow);
  // Further filters, but no names of threads and of memory.
  filter.DecideByArgument(SYS_prctl, 0, kIfEqual, PR_SET_NO_NEW_PRIVS, kAllow, Fails(EPERM));
  filter.Decide({SYS_seccomp}, kAllow);
  struct sigaction action = {};
  action.sa_sigaction = NameForbiddenCall;
  action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;
  sigaction(SIGSYS, &action, nullptr);
  return filter.Install();
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
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT, SIGXCPU})
    sigaction(signal, &action, nullptr);
}

}  // namespace attune

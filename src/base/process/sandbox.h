// What keeps a process that runs generated code from doing harm, and tells how it failed.
#ifndef ATTUNE_BASE_PROCESS_SANDBOX_H_
#define ATTUNE_BASE_PROCESS_SANDBOX_H_

#include <cstdint>

namespace attune {

struct SandboxLimits {
  double cpu_seconds = 0;           // of all threads together, from now on
  int64_t address_space_bytes = 0;  // beyond what there is now
  int64_t stack_bytes = int64_t{8} << 20;
};

// No core files, no bytes to files, and `limits`. Before the first thread is started.
void ApplyLimits(const SandboxLimits& limits);

// From now on, threads of this process may read from `in`, write to `out`, wait for each other and exit.
// Every other system call raises SIGSYS and is not executed. False where the system has no such filters.
bool ForbidSystemCalls(int in, int out);

// A signal that ends this process, as the handler sees it.
struct Crash {
  int signal = 0;
  const void* address = nullptr;  // that was accessed, where the signal has one
  int system_call = -1;           // of SIGSYS
  bool is_stack = false;          // the address is near the calling thread's stack pointer
};

// Calls `report` in a signal handler, on a stack of its own in the calling thread, when this process crashes;
// then the process exits with kCrashedStatus. `report` must be safe in a signal handler.
void ReportCrashes(void (*report)(const Crash& crash));
inline constexpr int kCrashedStatus = 78;

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_SANDBOX_H_

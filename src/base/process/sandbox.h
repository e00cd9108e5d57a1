// Keeps a process that runs generated code from doing harm, and reports how it failed.
#ifndef ATTUNE_BASE_PROCESS_SANDBOX_H_
#define ATTUNE_BASE_PROCESS_SANDBOX_H_

#include <cstdint>

namespace attune {

struct SandboxLimits {
  double cpu_seconds = 0;           // all threads together, from now on
  int64_t address_space_bytes = 0;  // in addition to the current size
  int64_t stack_bytes = int64_t{8} << 20;
};

// No core files, no writes to files, and `limits`. Call it before the first thread is started.
void ApplyLimits(const SandboxLimits& limits);

// From now on, threads of this process may read from `in`, write to `out`, wait for each other and exit.
// Every other system call raises SIGSYS and is not executed. Returns false if the system has no such
// filters.
bool ForbidSystemCalls(int in, int out);

// A signal that ends this process, as the signal handler sees it.
struct Crash {
  int signal = 0;
  const void* address = nullptr;  // the address accessed, if the signal has one
  int system_call = -1;           // for SIGSYS
  bool is_stack = false;          // the address is near the calling thread's stack pointer
};

// Calls `report` in a signal handler, on a stack of its own in the calling thread, when this process
// crashes, and then exits with kCrashedStatus. `report` must be safe in a signal handler.
void ReportCrashes(void (*report)(const Crash& crash));
inline constexpr int kCrashedStatus = 78;

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_SANDBOX_H_

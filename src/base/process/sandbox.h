// Keeps a process that works for strangers from doing harm, and reports how it failed.
//
// Problem: a process compiles a stranger's model, or runs the code that came out, and either may be wrong or
// hostile. Idea: several fences, each of which holds where another has a gap. Limits bound time and memory.
// Namespaces (namespaces.h) take the network, all privileges, files and other processes away, Landlock the
// files where it is the only way. A filter of system calls, the last fence to go up, leaves a process that
// compiles nothing but memory, threads of its own and the files that are open already, and a process that
// runs generated code not even those.
#ifndef ATTUNE_BASE_PROCESS_SANDBOX_H_
#define ATTUNE_BASE_PROCESS_SANDBOX_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

namespace attune {

struct SandboxLimits {
  double cpu_seconds = 0;           // all threads together, from now on
  int64_t address_space_bytes = 0;  // in addition to the current size
  int64_t stack_bytes = int64_t{8} << 20;
};

// No core files, no writes to files, and `limits`. Call it before the first thread is started.
void ApplyLimits(const SandboxLimits& limits);

// The rights that a process keeps to a file, or to everything below a folder. Each includes those before.
enum class FileUse : uint8_t { kRead, kExecute, kChange };
struct AllowedFiles {
  int open = -1;  // the file or the folder, open in whatever way
  FileUse use = FileUse::kRead;
};

// From now on, this thread, and threads and processes that it starts, can neither open nor change a file that
// has a name, apart from `allowed`. Files that are open stay so, and anonymous ones can be opened again by
// /proc/self/fd. If the system has no Landlock (Linux 5.13), the status says so, and nothing is forbidden.
absl::Status ForbidFiles(std::span<const AllowedFiles> allowed = {});

// Whether the system can do that.
bool CanForbidFiles();

// From now on, threads of this process may read from `in`, write to `out`, wait for each other and exit.
// Every other system call raises SIGSYS and is not executed. Returns false if the system has no such
// filters.
bool ForbidSystemCalls(int in, int out);

// From now on, this thread, and threads and processes that it starts, can listen at no TCP port, connect to
// no other than `port` (0: to none), and send signals to none but one another. If the system's Landlock is
// older than Linux 6.7, or 6.12 for signals, the status says so, and these are not forbidden.
absl::Status ForbidPeersBut(int port);

// If the system runs out of memory, it ends this process, and those that it starts, before others.
void BeAmongTheFirstToGo();

// Whether a process may make memory executable.
enum class LoadingCode : uint8_t { kForbidden, kAllowed };

// From now on, this process may compute: use memory, which must not be executable unless it may load code,
// start and end threads, and open, read and write files (see ForbidFiles). Other system calls, such as those
// that remove a file, start a process, send a signal to another one or open a socket, print their number to
// standard error and end the process with SIGSYS, unless ReportCrashes() is called later. The process can
// still forbid more. Returns false if the system has no such filters. Does nothing under a sanitizer, whose
// runtime does more than that.
bool ForbidAllButComputing(LoadingCode loading = LoadingCode::kForbidden);

// A signal that ends this process, as the signal handler sees it.
struct Crash {
  int signal = 0;
  const void* address = nullptr;  // the address accessed, if the signal has one
  int system_call = -1;           // for SIGSYS
  bool is_stack = false;          // the address is near the calling thread's stack pointer
};

// Calls `report` in a signal handler, on a stack of its own in the calling thread, when this process
// crashes or has used its processor time, and then exits with kCrashedStatus. `report` must be safe in a
// signal handler.
void ReportCrashes(void (*report)(const Crash& crash));
inline constexpr int kCrashedStatus = 78;

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_SANDBOX_H_

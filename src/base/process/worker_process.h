// A worker process, seen from the one that starts it: a copy of a program of ours that serves requests over a
// socket.
//
// It is started by fork and exec, so that it shares no memory with the one that starts it, whatever threads
// that has, and inherits nothing but its socket and an anonymous file for what it prints. It ends when that
// one does, however that ends: a thread of the worker waits for the socket to close (worker.cc).
// The parent-death signal would not do: it comes when the thread that started the worker ends.
#ifndef ATTUNE_BASE_PROCESS_WORKER_PROCESS_H_
#define ATTUNE_BASE_PROCESS_WORKER_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "base/process/message.h"

namespace attune {

// How a worker is called: PROGRAM --worker KIND. Its socket has a fixed number.
inline constexpr char kWorkerFlag[] = "--worker";
inline constexpr int kWorkerSocket = 3;
// The first message of every worker. The number counts up with each change of the messages.
inline constexpr char kWorkerGreeting[] = "attune worker 3";
// Exit status of a worker that cannot have the memory that it wants.
inline constexpr int kOutOfMemoryStatus = 77;

// Why a process did not start.
inline constexpr char kTooFewFiles[] =
    "it cannot have the files open that it needs; raise the limit (ulimit -n)";

// How a process ended, as its parent sees it.
struct ProcessEnd {
  enum class Cause : uint8_t { kCrashed, kOutOfMemory, kTimedOut };
  Cause cause = Cause::kCrashed;
  std::string reason;   // "signal 11 (Segmentation fault)", "exit status 3"
  bool killed = false;  // by a signal that no worker sends itself
};
// Of a status of waitpid().
ProcessEnd DescribeEnd(int wait_status);

// The program whose main() calls RunIfWorker (worker.h): `given`, where that is not empty, or attune-worker
// beside the running program, or that program itself if its main() does.
absl::StatusOr<std::string> FindWorkerProgram(const std::string& given);

struct WorkerLimits {
  int64_t address_space_bytes = 0;  // 0: as many as this process may have
};

// Not thread safe. The process is gone when this object is.
class WorkerProcess {
 public:
  // Does not wait for the worker to be ready.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(const std::string& program,
                                                              const std::string& kind,
                                                              const WorkerLimits& limits);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  // Waits for the greeting. An error names the program, and the process is gone.
  absl::Status AwaitReady(Deadline deadline);
  // Whether that was successful.
  bool is_ready() const { return is_ready_; }

  // Sends a request. What the worker has printed before says nothing about it, and is forgotten.
  absl::Status Send(const std::string& request, Deadline deadline);

  int socket() const { return socket_.get(); }
  pid_t pid() const { return pid_; }
  // Of all workers that this process has started, its number.
  int64_t id() const { return id_; }

  // Kills the process if it is still there, waits for it, and says how it ended, with the end of what it
  // printed. `grace_seconds`: how long it may take to end by itself. After that this object is of no use.
  ProcessEnd Stop(double grace_seconds = 0);

 private:
  WorkerProcess(std::string program, FileDescriptor socket, FileDescriptor output);

  std::string PrintedEnd() const;

  const int64_t id_;
  std::string program_;
  FileDescriptor socket_;
  FileDescriptor output_;  // what it prints
  pid_t pid_ = -1;
  bool is_ready_ = false;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_WORKER_PROCESS_H_

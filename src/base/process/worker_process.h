// A worker process as its parent sees it: a copy of one of our programs that serves requests over a socket.
//
// The parent starts it by fork and exec, so that the worker shares no memory with the parent, whatever
// threads the parent has, and inherits only its socket and an anonymous file for its printed output. The
// worker ends when the parent ends, however that happens: a thread of the worker waits for the socket to
// close (worker.cc). The parent-death signal would not do: it is sent when the thread that started the
// worker ends.
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

// A worker is started as PROGRAM --worker KIND BUILD, with the BuildId() of who starts it. Its socket has a
// fixed number.
inline constexpr char kWorkerFlag[] = "--worker";
inline constexpr int kWorkerSocket = 3;
// The first message of every worker, of this build. The number in it increases with each change of the
// messages.
std::string WorkerGreeting();
// Exit status of a worker that cannot get the memory that it needs.
inline constexpr int kOutOfMemoryStatus = 77;

// Why a process did not start.
inline constexpr char kTooFewFiles[] =
    "it cannot have the files open that it needs; raise the limit (ulimit -n)";

// How a process ended, as its parent sees it.
struct ProcessEnd {
  enum class Cause : uint8_t { kCrashed, kOutOfMemory, kTimedOut };
  Cause cause = Cause::kCrashed;
  std::string reason;   // for example "signal 11 (Segmentation fault)", "exit status 3"
  bool killed = false;  // by a signal that no worker sends to itself
};
// Describes a status of waitpid().
ProcessEnd DescribeEnd(int wait_status);

// The program whose main() calls RunIfWorker (worker.h): `given` if it is not empty, else attune-worker
// beside the running program, else the running program itself if its main() does, else attune-worker beside
// the shared library that this code is in, or in the folder attune there.
absl::StatusOr<std::string> FindWorkerProgram(const std::string& given);

struct WorkerLimits {
  int64_t address_space_bytes = 0;  // 0: as many as this process may use
  // Whether it gets only the environment's variables that concern it, and writes only small files. As in
  // WorkerKind.
  bool is_confined = true;
};

// Not thread safe. The process has ended once this object is destroyed.
class WorkerProcess {
 public:
  // Does not wait for the worker to be ready.
  static absl::StatusOr<std::unique_ptr<WorkerProcess>> Start(const std::string& program,
                                                              const std::string& kind,
                                                              const WorkerLimits& limits);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  // Waits for the greeting. On error the status names the program, and the process has ended.
  absl::Status AwaitReady(Deadline deadline);
  // Whether AwaitReady() was successful.
  bool is_ready() const { return is_ready_; }

  // Sends a request. Discards what the worker printed before, since it is not about this request.
  absl::Status Send(const std::string& request, Deadline deadline);

  int socket() const { return socket_.get(); }
  pid_t pid() const { return pid_; }
  // The number of this worker, counted over all workers that this process has started.
  int64_t id() const { return id_; }

  // Kills the process if it is still running, waits for it, and says how it ended, with the end of its
  // printed output. `grace_seconds`: how long it may take to end by itself. After that, this object must
  // not be used.
  ProcessEnd Stop(double grace_seconds = 0);

 private:
  WorkerProcess(std::string program, FileDescriptor socket, FileDescriptor output);

  std::string PrintedEnd() const;

  const int64_t id_;
  std::string program_;
  FileDescriptor socket_;
  FileDescriptor output_;  // printed output
  pid_t pid_ = -1;
  bool is_ready_ = false;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_WORKER_PROCESS_H_

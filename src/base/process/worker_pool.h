// Requests that are served side by side by worker processes, of which any may die.
//
// Workers are started when they are first needed, and replaced when they die or take too long. One that is
// killed from outside does not tell whether its request was at fault, which another worker gets then.
#ifndef ATTUNE_BASE_PROCESS_WORKER_POOL_H_
#define ATTUNE_BASE_PROCESS_WORKER_POOL_H_

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process/worker_process.h"

namespace attune {

struct WorkerPoolOptions {
  std::string kind;     // of the workers
  std::string program;  // empty: FindWorkerProgram()'s
  WorkerLimits limits;
  double start_seconds_limit = 30;  // until a new worker is ready
  // Tells a new worker what all of its requests need; null: nothing.
  std::function<absl::Status(WorkerProcess&)> set_up;
};

// The requests of one call of Run().
struct PooledRequests {
  size_t count = 0;
  size_t at_once = 1;  // as many workers are busy at most
  // Sends the request of that index. Where it fails, the worker's answer tells why.
  std::function<absl::Status(WorkerProcess&, size_t index)> send;
  // A worker that takes longer for it, in seconds, is killed.
  std::function<double(size_t index)> seconds_limit;
  // The id of the worker that had better serve it, as far as that is there and idle; -1, or null: any.
  std::function<int64_t(size_t index)> preferred;
  // Told once for each request, in the order in which they are answered, by the thread that calls Run():
  // the answer, and the id of the worker that gave it, else -1; Unavailable where the worker ended by itself,
  // which `end` tells about; DeadlineExceeded where it took too long; DataLoss where it wrote nonsense;
  // Aborted where workers could not be had, or were killed again and again.
  std::function<void(size_t index, const absl::StatusOr<std::string>& answer, const ProcessEnd& end,
                     int64_t worker)>
      answered;
  // Asked now and then: requests that no worker has by then are dropped, and those that one has are
  // awaited. Null: never.
  std::function<bool()> is_cancelled;
  // A sign of life: Run() calls it about ten times a second while it waits. Null: never.
  std::function<void()> alive;
};

// Thread safe: calls of Run() share the workers.
class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  ~WorkerPool();

  // Serves all requests. When it returns, no worker is busy for them any more.
  void Run(const PooledRequests& requests);

  // The process ids of the present workers; for tests.
  std::vector<pid_t> Pids();

 private:
  class Batch;

  // Takes an idle worker, `preferred` if that is one, or a new one, which may not be ready yet.
  absl::StatusOr<WorkerProcess*> Take(int64_t preferred);
  void GiveBack(WorkerProcess* worker);
  // Ends it.
  ProcessEnd Remove(WorkerProcess* worker, double grace_seconds);

  const WorkerPoolOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::set<const WorkerProcess*> busy_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_WORKER_POOL_H_

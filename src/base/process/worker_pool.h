// Worker processes that serve requests in parallel, and any of which may die.
//
// Workers are started when they are first needed, and replaced when they die or take too long. If a worker
// is killed from outside, this does not show whether its request was at fault, so another worker retries
// the request.
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
  std::string kind;     // worker kind
  std::string program;  // if empty: FindWorkerProgram()
  WorkerLimits limits;
  double start_seconds_limit = 30;  // until a new worker is ready
  // Sends a new worker what all of its requests need. Null: nothing to send.
  std::function<absl::Status(WorkerProcess&)> set_up;
};

// The requests of one call of Run().
struct PooledRequests {
  size_t count = 0;
  size_t at_once = 1;  // the most workers that are busy at a time
  // Sends request number `index`. If it fails, the worker's answer tells why.
  std::function<absl::Status(WorkerProcess&, size_t index)> send;
  // The time limit for a request in seconds. A worker that takes longer is killed.
  std::function<double(size_t index)> seconds_limit;
  // The id of the worker that should serve the request if that worker exists and is idle; -1, or null: any.
  std::function<int64_t(size_t index)> preferred;
  // Called once for each request, in the order of the answers, by the thread that calls Run(), with the
  // answer and the id of the worker that gave it. In case of an error the id is -1 and the status is
  // Unavailable if the worker ended by itself (`end` says how), DeadlineExceeded if it took too long,
  // DataLoss if it wrote nonsense, or Aborted if workers could not be started or were killed again and
  // again.
  std::function<void(size_t index, const absl::StatusOr<std::string>& answer, const ProcessEnd& end,
                     int64_t worker)>
      answered;
  // Polled while Run() waits. Once it is true, requests that no worker has yet are dropped, and the others
  // are awaited. Null: never cancelled.
  std::function<bool()> is_cancelled;
  // A sign of life: Run() calls it about ten times a second while it waits. Null: no call.
  std::function<void()> alive;
};

// Thread safe: calls of Run() share the workers.
class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  ~WorkerPool();

  // Serves all requests. When it returns, no worker is busy with them any more.
  void Run(const PooledRequests& requests);

  // The process ids of the current workers; for tests.
  std::vector<pid_t> Pids();

 private:
  class Batch;

  // Takes an idle worker, `preferred` if it is idle, or starts a new one, which may not be ready yet.
  absl::StatusOr<WorkerProcess*> Take(int64_t preferred);
  void GiveBack(WorkerProcess* worker);
  // Ends the worker.
  ProcessEnd Remove(WorkerProcess* worker, double grace_seconds);

  const WorkerPoolOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<WorkerProcess>> workers_;
  std::set<const WorkerProcess*> busy_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_WORKER_POOL_H_

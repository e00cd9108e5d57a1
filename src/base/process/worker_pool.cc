#include "base/process/worker_pool.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "base/process/message.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kAttempts = 3;           // per request whose workers are killed from outside
constexpr double kEndSeconds = 2;      // for a worker to exit after its socket has closed
constexpr double kAliveSeconds = 0.1;  // between two signs of life, and between two checks for cancellation

}  // namespace

// One call of Run: which worker has which request.
class WorkerPool::Batch {
 public:
  Batch(WorkerPool& pool, const PooledRequests& requests)
      : pool_(pool), requests_(requests), attempts_(requests.count, 0) {
    for (size_t i = 0; i < requests.count; ++i) waiting_.push_back(i);
  }

  void Run() {
    while (!waiting_.empty() || !busy_.empty()) {
      if (requests_.is_cancelled != nullptr && requests_.is_cancelled()) waiting_.clear();
      if (const absl::Status status = Assign(); !status.ok() && busy_.empty()) GiveUp(status);
      if (!busy_.empty()) AwaitAny();
    }
  }

 private:
  struct Task {
    size_t index;
    WorkerProcess* worker;
    Deadline deadline;
  };

  // Drops all requests that still wait, since workers cannot be started.
  void GiveUp(const absl::Status& status) {
    for (const size_t index : std::exchange(waiting_, {}))
      Answer(index, absl::AbortedError(status.message()), {}, -1);
  }

  void Answer(size_t index, const absl::StatusOr<std::string>& answer, const ProcessEnd& end,
              int64_t worker) {
    requests_.answered(index, answer, end, worker);
  }

  // Assigns waiting requests to workers.
  absl::Status Assign() {
    while (!waiting_.empty() && busy_.size() < std::max<size_t>(1, requests_.at_once)) {
      const size_t index = waiting_.front();
      const int64_t preferred = requests_.preferred == nullptr ? -1 : requests_.preferred(index);
      ASSIGN_OR_RETURN(WorkerProcess* const worker, pool_.Take(preferred));
      waiting_.pop_front();
      ++attempts_[index];
      // A failure is ignored here; waiting for the answer reports it.
      requests_.send(*worker, index).IgnoreError();
      const double starting = worker->is_ready() ? 0 : pool_.options_.start_seconds_limit;
      busy_.push_back({index, worker, After(starting + requests_.seconds_limit(index))});
    }
    return absl::OkStatus();
  }

  // Waits until at least one worker answers, dies or takes too long, but not for long.
  void AwaitAny() {
    std::vector<pollfd> entries;
    Deadline first = After(kAliveSeconds);
    for (const Task& task : busy_) {
      entries.push_back({task.worker->socket(), POLLIN, 0});
      first = std::min(first, task.deadline);
    }
    poll(entries.data(), entries.size(), PollTimeout(first));
    if (requests_.alive != nullptr) requests_.alive();
    const auto now = std::chrono::steady_clock::now();
    const std::vector<Task> tasks = std::exchange(busy_, {});
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (entries[i].revents == 0 && now < tasks[i].deadline) {
        busy_.push_back(tasks[i]);
      } else if (!tasks[i].worker->is_ready()) {
        Greet(tasks[i]);
      } else {
        Finish(tasks[i]);
      }
    }
  }

  // Receives the greeting of a new worker; its answer to the request follows it.
  void Greet(const Task& task) {
    const absl::Status status = task.worker->AwaitReady(task.deadline);
    if (status.ok()) {
      // The worker only begins with the request now, so its time limit starts now.
      busy_.push_back({task.index, task.worker, After(requests_.seconds_limit(task.index))});
      return;
    }
    pool_.Remove(task.worker, 0);
    Answer(task.index, absl::AbortedError(status.message()), {}, -1);
    GiveUp(status);
  }

  void Finish(const Task& task) {
    const absl::StatusOr<std::string> answer = ReceiveMessage(task.worker->socket(), task.deadline);
    if (answer.ok()) {
      pool_.GiveBack(task.worker);
      Answer(task.index, answer, {}, task.worker->id());
      return;
    }
    const bool is_gone = absl::IsUnavailable(answer.status());
    const ProcessEnd end = pool_.Remove(task.worker, is_gone ? kEndSeconds : 0);
    if (!is_gone || !end.killed) {
      Answer(task.index, answer, end, -1);
    } else if (attempts_[task.index] < kAttempts) {
      waiting_.push_front(task.index);
    } else {
      Answer(task.index, absl::AbortedError(absl::StrCat("its workers were killed: ", end.reason)), end, -1);
    }
  }

  WorkerPool& pool_;
  const PooledRequests& requests_;
  std::vector<int> attempts_;
  std::deque<size_t> waiting_;
  std::vector<Task> busy_;
};

WorkerPool::WorkerPool(WorkerPoolOptions options) : options_(std::move(options)) {}

WorkerPool::~WorkerPool() = default;

absl::StatusOr<WorkerProcess*> WorkerPool::Take(int64_t preferred) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    WorkerProcess* idle = nullptr;
    for (const std::unique_ptr<WorkerProcess>& worker : workers_) {
      if (busy_.contains(worker.get())) continue;
      if (idle == nullptr || worker->id() == preferred) idle = worker.get();
    }
    if (idle != nullptr) {
      busy_.insert(idle);
      return idle;
    }
  }
  ASSIGN_OR_RETURN(const std::string program, FindWorkerProgram(options_.program));
  ASSIGN_OR_RETURN(std::unique_ptr<WorkerProcess> started,
                   WorkerProcess::Start(program, options_.kind, options_.limits));
  // A failure is ignored here; waiting for the greeting tells why.
  if (options_.set_up != nullptr) options_.set_up(*started).IgnoreError();
  const std::lock_guard<std::mutex> lock(mutex_);
  WorkerProcess* const worker = workers_.emplace_back(std::move(started)).get();
  busy_.insert(worker);
  return worker;
}

void WorkerPool::GiveBack(WorkerProcess* worker) {
  const std::lock_guard<std::mutex> lock(mutex_);
  busy_.erase(worker);
}

ProcessEnd WorkerPool::Remove(WorkerProcess* worker, double grace_seconds) {
  const ProcessEnd end = worker->Stop(grace_seconds);
  const std::lock_guard<std::mutex> lock(mutex_);
  busy_.erase(worker);
  std::erase_if(workers_, [&](const auto& one) { return one.get() == worker; });
  return end;
}

void WorkerPool::Run(const PooledRequests& requests) { Batch(*this, requests).Run(); }

std::vector<pid_t> WorkerPool::Pids() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<pid_t> pids;
  for (const std::unique_ptr<WorkerProcess>& worker : workers_) pids.push_back(worker->pid());
  return pids;
}

}  // namespace attune

#include "base/thread_pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "base/processor_set.h"
#include "base/processors.h"
#include "base/threads.h"

namespace attune {
namespace {

// Work that may still use helpers. Its owner waits for them, so it outlives what they do.
struct SharedWork {
  absl::FunctionRef<void()> run;
  int64_t wanted = 0;   // helpers that may still begin
  int64_t running = 0;  // helpers that have begun and not ended
  ProcessorSet processors;
};

class ThreadPool {
 public:
  pid_t process() const { return process_; }

  void Run(int64_t helpers, absl::FunctionRef<void()> run) {
    SharedWork work = {.run = run, .wanted = helpers, .processors = ProcessorSet::OfThisThread()};
    Offer(work);
    // Helpers must have ended when `work` is destroyed, even if an exception ends it.
    struct Ending {
      ~Ending() { pool.Withdraw(work); }
      ThreadPool& pool;
      SharedWork& work;
    } ending = {*this, work};
    run();
  }

 private:
  void Offer(SharedWork& work) {
    const std::lock_guard<std::mutex> lock(mutex_);
    offered_.push_back(&work);
    const int most = Processors() - 1;
    for (int64_t missing = work.wanted - idle_; missing > 0 && threads_ < most; --missing) {
      std::thread thread;
      if (!StartThread(thread, [this] { Serve(); })) break;
      thread.detach();
      ++threads_;
    }
    offer_.notify_all();
  }

  void Withdraw(SharedWork& work) {
    std::unique_lock<std::mutex> lock(mutex_);
    std::erase(offered_, &work);
    helper_ended_.wait(lock, [&] { return work.running == 0; });
  }

  // The main loop of a thread of the pool.
  void Serve() {
    ProcessorSet own = ProcessorSet::OfThisThread();
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      ++idle_;
      offer_.wait(lock, [this] { return !offered_.empty(); });
      --idle_;
      // Take the newest work: in nested loops, the inner one ends first.
      SharedWork& work = *offered_.back();
      ++work.running;
      if (--work.wanted == 0) offered_.pop_back();
      lock.unlock();
      if (!(own == work.processors) && work.processors.GiveToThisThread()) own = work.processors;
      work.run();
      lock.lock();
      if (--work.running == 0) helper_ended_.notify_all();
    }
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable offer_, helper_ended_;
  std::vector<SharedWork*> offered_;  // work that may use more helpers
  int threads_ = 0, idle_ = 0;
};

// Never destroyed: its threads run until the process ends.
ThreadPool& PoolOfThisProcess() {
  static std::atomic<ThreadPool*> current = nullptr;
  ThreadPool* pool = current.load();
  // In a child made by fork, the parent's pool has no threads, and one of them may have held its lock.
  while (pool == nullptr || pool->process() != getpid()) {
    auto* fresh = new ThreadPool;
    if (current.compare_exchange_strong(pool, fresh)) return *fresh;
    delete fresh;
  }
  return *pool;
}

}  // namespace

void RunWithHelpers(int64_t helpers, absl::FunctionRef<void()> work) {
  if (helpers <= 0) {
    work();
  } else {
    PoolOfThisProcess().Run(helpers, work);
  }
}

}  // namespace attune

// The threads that all sessions of the process share.
//
// Problem: a network is hundreds of kernels of some ten to some hundred microseconds, so that waking threads
// for each (some 50 µs) would cost as much as the work. Idea: within a run, idle workers spin for a bounded
// while; between runs they sleep in the kernel. The split of a kernel is static: part p of a launch is
// offered to worker p, the caller runs part 0. Each worker has a ticket in a cache line of its own, on which
// the part is offered and claimed. When the caller is done with part 0 it claims what no worker has begun: a
// worker that still sleeps, or whose processor is taken by another program, delays nobody. Cost of a launch
// while workers spin: two cache lines a worker to and fro, some hundred nanoseconds.
//
// One launch uses the workers at a time. A launch that finds them taken runs its parts one after another in
// the calling thread: the results are the same, nobody waits, and sessions that together have more threads
// than the machine has processors come out ahead.
#ifndef ATTUNE_RUNTIME_THREAD_POOL_H_
#define ATTUNE_RUNTIME_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/device.h"
#include "runtime/error.h"

namespace attune {

// Runs parts [begin, end) of the launch in the calling thread. Returns 0, or what the first part that failed
// returned; the later ones are then not run.
int32_t RunParts(const KernelLaunch& launch, int32_t begin, int32_t end);

// Thread safe.
class ThreadPool {
 public:
  // The process's pool, made when there is none, with workers for launches of `threads` parts (> 1). Its
  // workers end with its last owner.
  static RuntimeStatus Get(int32_t threads, std::shared_ptr<ThreadPool>* pool);

  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Workers spin for their next part while any run is between these two.
  void BeginRun() { active_runs_.fetch_add(1, std::memory_order_relaxed); }
  void EndRun() { active_runs_.fetch_sub(1, std::memory_order_relaxed); }

  // Runs all parts of the launch and waits for them. Returns 0, or what one part that failed returned.
  int32_t Run(const KernelLaunch& launch);

 private:
  struct alignas(64) Worker {
    // Raised when a part is offered, to an odd number, and when it is claimed, to an even one.
    std::atomic<uint32_t> ticket = 0;
    std::thread thread;
  };

  // Has at least `workers` workers, or an error where the system has no more threads.
  RuntimeStatus Grow(size_t workers);
  void Work(Worker& worker, int32_t part);
  // Whether the caller is to run the part that is on offer to `worker`, if one is. `ticket` is set to the
  // last number seen.
  static bool Claim(Worker& worker, uint32_t* ticket);
  void RunClaimed(int32_t part);
  // Waits until `value` is no longer `old`, and returns what it is.
  uint32_t Await(const std::atomic<uint32_t>& value, uint32_t old) const;

  std::mutex mutex_;  // held by the launch that uses the workers, or by Grow()
  std::vector<std::unique_ptr<Worker>> workers_;

  // Of the current launch; written before its parts are offered.
  const KernelLaunch* launch_ = nullptr;
  std::atomic<int32_t> failure_ = 0;
  std::atomic<bool> stopping_ = false;
  alignas(64) std::atomic<uint32_t> pending_ = 0;  // parts that are not done
  alignas(64) std::atomic<int32_t> active_runs_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_THREAD_POOL_H_

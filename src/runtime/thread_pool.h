// The threads that all sessions of the process share.
//
// Problem: a network is hundreds of kernels of some ten to some hundred microseconds, so that waking threads
// for each (some 50 µs) would cost as much as the work; and where each thread has a fixed part of a kernel,
// all wait for the one whose core is slow, busy with another program or taken away by the host.
//
// Idea: within a run, idle workers spin for a bounded while; between runs they sleep in the kernel. Each
// thread of a launch has a fixed range of the work, the same from kernel to kernel, so that it finds in its
// caches what it wrote there. It takes blocks from the front of its range: half of it, then half of what is
// left, down to 1/8. A thread whose range is used up takes blocks from the tails of the others' ranges; so
// the caller runs what a worker that still sleeps has not begun. Blocks are powers of two of eighths at
// multiples of their size, so that each is one (part, parts) of the kernel's interface. The rest of a
// range is one word with the number of the launch: one compare-and-swap claims a block, and one by a thread
// that comes too late fails.
//
// Cost of a launch while workers spin: a cache line a worker, which holds all that it must know, and one
// back, some hundred nanoseconds; and four calls of the kernel a thread instead of one, tens of nanoseconds
// each. In a launch that nothing disturbs no thread looks at another's range. All that a thread may wait for
// is a block that was begun: an eighth of a range where cores are about as fast as each other, half of one at
// most. A block whose core is taken away meanwhile is waited for, however long that takes.
//
// One launch uses the workers at a time. A launch that finds them taken runs in the calling thread alone: the
// results are the same, nobody waits, and sessions that together have more threads than the machine has
// processors come out ahead.
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

// Executes the kernel in one call, with the first thread's scratch. Returns what it returned.
int32_t RunAlone(const KernelLaunch& launch);

// Thread safe.
class ThreadPool {
 public:
  // The process's pool, made when there is none, for launches of up to `threads` threads (at most
  // kMaxThreads), the callers' included. Its workers end with its last owner.
  static RuntimeStatus Get(int32_t threads, std::shared_ptr<ThreadPool>* pool);

  ThreadPool() { threads_.reserve(kMaxThreads); }
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Workers spin for their next launch while any run is between these two.
  void BeginRun() { active_runs_.fetch_add(1, std::memory_order_relaxed); }
  void EndRun() { active_runs_.fetch_sub(1, std::memory_order_relaxed); }

  // Executes the kernel and waits for it. Returns 0, or what a call that failed returned.
  int32_t Run(const KernelLaunch& launch);

 private:
  // The part of a thread's range that nobody has begun, in units of which a range has kUnits.
  struct Range {
    uint32_t launch = 0;   // its number
    uint16_t threads = 0;  // that the launch has
    uint8_t begin = 0;
    uint8_t end = 0;
  };
  static_assert(std::atomic<Range>::is_always_lock_free);

  struct Block {
    int32_t begin;
    int32_t size;
  };

  // All that a launch gives a thread lies in one cache line.
  struct alignas(64) Thread {
    std::atomic<Range> range = Range();
    // Of the last launch in which this thread has a range; a worker waits for it to change.
    std::atomic<uint32_t> number = 0;
    KernelLaunch launch = {};  // read by this thread only, and only after it claimed a block
    std::thread worker;        // none for the first, which stands for the caller
  };

  // Has at least `threads` threads, the caller included, or an error where the system has no more.
  RuntimeStatus Grow(size_t threads);
  void Work(Thread& thread, int32_t self);
  // Gives each of the launch's threads its range. Returns the launch's number.
  uint32_t Offer(const KernelLaunch& launch);
  // Claims a block of the range, from the front or from the tail, if it is of that launch and not used up.
  static bool Claim(std::atomic<Range>& range, uint32_t launch, bool front, Block* block);
  // Runs blocks of the range of `owner` in the thread `self` until none is left. Returns how many units it
  // ran.
  uint32_t Drain(int32_t owner, uint32_t launch, int32_t self);
  // The same in a worker, which tells the caller.
  void DrainAndReport(int32_t owner, uint32_t launch, int32_t self);
  void RunBlock(int32_t owner, const Block& block, int32_t self);
  // Waits until `value` is no longer `old`, and returns what it is.
  uint32_t Await(const std::atomic<uint32_t>& value, uint32_t old) const;

  // Read by all in each launch and seldom written. The vector is never reallocated: a worker may still look
  // at the ranges of a launch that is over while Grow() appends.
  alignas(64) std::vector<std::unique_ptr<Thread>> threads_;
  std::atomic<int32_t> failure_ = 0;  // what a call of the current launch returned
  std::atomic<bool> stopping_ = false;

  // Written by callers in each launch.
  alignas(64) std::mutex mutex_;  // held by the launch that uses the workers, or by Grow()
  uint32_t launches_ = 0;
  uint32_t done_in_the_end_ = 0;  // done_, once the current launch is over

  alignas(64) std::atomic<uint32_t> done_ = 0;  // units that workers have run since the pool was made
  alignas(64) std::atomic<int32_t> active_runs_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_THREAD_POOL_H_

// The threads that all sessions of the process share.
//
// Problem: a network is hundreds of kernels that take about ten to some hundred microseconds each. Waking
// threads for each kernel (about 50 µs) would cost as much as the work, and if each thread had a fixed part
// of a kernel, all would wait for the one whose core is slow, busy with another program or taken away by
// the host.
//
// Idea: within a run, idle workers spin for a bounded time; between runs they sleep in the kernel. Each
// thread of a launch has a fixed range of the work, the same from kernel to kernel, so that it finds its
// earlier results in its caches. It takes blocks from the front of its range: half of it, then half of the
// rest, down to 1/8. A thread that has finished its range takes blocks from the tails of the others'
// ranges; so the caller runs the blocks that a still sleeping worker has not begun. Blocks are powers of
// two of eighths at multiples of their size, so that each is one (part, parts) of the kernel's interface.
// The rest of a range is one word that includes the number of the launch: one compare-and-swap claims a
// block, and fails in a thread that comes too late.
//
// Cost of a launch while workers spin: one cache line per worker with all its input, and one back, some
// hundred nanoseconds; and four calls of the kernel per thread instead of one, tens of nanoseconds each. In
// an undisturbed launch, no thread looks at another's range. A thread only ever waits for a block that was
// begun: an eighth of a range if all cores are about equally fast, at most half of one. If the core that
// runs a block is taken away meanwhile, the wait lasts until it comes back.
//
// The workers run one launch at a time. A launch that finds them busy runs in the calling thread alone: the
// results are the same, no session waits, and sessions that together have more threads than the machine has
// processors finish sooner.
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

// Executes the kernel in one call, with the first thread's scratch. Returns its result.
int32_t RunAlone(const KernelLaunch& launch);

// Thread safe.
class ThreadPool {
 public:
  // The pool of the process, created if there is none, for launches of up to `threads` threads (at most
  // kMaxThreads), including the caller. Its workers end with its last owner.
  static RuntimeStatus Get(int32_t threads, std::shared_ptr<ThreadPool>* pool);

  ThreadPool() { threads_.reserve(kMaxThreads); }
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Workers spin for their next launch while any run is between these two calls.
  void BeginRun() { active_runs_.fetch_add(1, std::memory_order_relaxed); }
  void EndRun() { active_runs_.fetch_sub(1, std::memory_order_relaxed); }

  // Executes the kernel and waits for it. Returns 0, or the result of a call that failed.
  int32_t Run(const KernelLaunch& launch);

 private:
  // The unclaimed part of a thread's range, in units; a range has kUnits of them.
  struct Range {
    uint32_t launch = 0;   // the number of the launch
    uint16_t threads = 0;  // the number of threads in the launch
    uint8_t begin = 0;
    uint8_t end = 0;
  };
  static_assert(std::atomic<Range>::is_always_lock_free);

  struct Block {
    int32_t begin;
    int32_t size;
  };

  // All data that a launch passes to a thread is in one cache line.
  struct alignas(64) Thread {
    std::atomic<Range> range = Range();
    // The number of the last launch in which this thread has a range; a worker waits until it changes.
    std::atomic<uint32_t> number = 0;
    KernelLaunch launch = {};  // read by this thread only, and only after it claimed a block
    std::thread worker;        // none for the first thread, which is the caller
  };

  // Grows the pool to at least `threads` threads, including the caller; fails if the system has no more.
  RuntimeStatus Grow(size_t threads);
  void Work(Thread& thread, int32_t self);
  // Assigns a range to each thread of the launch. Returns the number of the launch.
  uint32_t Offer(const KernelLaunch& launch);
  // Claims a block at the front or the tail of the range, if the range is of that launch and not used up.
  static bool Claim(std::atomic<Range>& range, uint32_t launch, bool front, Block* block);
  // Runs blocks of the range of `owner` in the thread `self` until none is left. Returns the number of
  // units it ran.
  uint32_t Drain(int32_t owner, uint32_t launch, int32_t self);
  // The same in a worker, which reports to the caller.
  void DrainAndReport(int32_t owner, uint32_t launch, int32_t self);
  void RunBlock(int32_t owner, const Block& block, int32_t self);
  // Waits until `value` is no longer `old`, and returns the new value.
  uint32_t Await(const std::atomic<uint32_t>& value, uint32_t old) const;

  // Read by all threads in each launch and seldom written. The vector is never reallocated: a worker may
  // still look at the ranges of a finished launch while Grow() appends.
  alignas(64) std::vector<std::unique_ptr<Thread>> threads_;
  std::atomic<int32_t> failure_ = 0;  // the result of a failed call in the current launch
  std::atomic<bool> stopping_ = false;

  // Written by callers in each launch.
  alignas(64) std::mutex mutex_;  // held by the launch that uses the workers, or by Grow()
  uint32_t launches_ = 0;
  uint32_t done_in_the_end_ = 0;  // the value of done_ at the end of the current launch

  alignas(64) std::atomic<uint32_t> done_ = 0;  // units that workers have run since the pool was made
  alignas(64) std::atomic<int32_t> active_runs_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_THREAD_POOL_H_

#include "runtime/thread_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <system_error>

#include "base/joined.h"
#include "runtime/float_mode.h"

namespace attune {
namespace {

// How long to spin before sleeping: a few times the cost of waking a thread.
constexpr std::chrono::microseconds kSpinTime(200);

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

// Whether `happens` becomes true shortly, before it is worth looking at other threads' ranges: the threads
// of an undisturbed launch end at about the same time, and each look takes a cache line from a thread that
// writes it.
template <typename Condition>
bool Soon(Condition happens) {
  constexpr int kPauses = 16;
  for (int i = 0; i < kPauses; ++i) {
    if (happens()) return true;
    Pause();
  }
  return false;
}

// The number of units in a range, a power of two. More units shorten the wait for the last block, but need
// more calls of the kernel.
constexpr int32_t kUnits = 8;

// The size in units of the next block, which begins (or ends) at `at`, with `left` units unclaimed: about
// half of them, reduced to a power of two that divides `at`.
int32_t BlockSize(int32_t at, int32_t left) {
  const auto half = static_cast<int32_t>(std::bit_floor(static_cast<uint32_t>(left + 1) / 2));
  return at == 0 ? half : std::min(half, at & -at);
}

// Compiled kernels lack the type signature that the function sanitizer expects before a function.
[[clang::no_sanitize("function")]] int32_t Call(const KernelLaunch& launch, int32_t thread, int32_t part,
                                                int32_t parts) {
  std::byte* scratch = launch.scratch + static_cast<uint64_t>(thread) * launch.scratch_stride;
  return launch.kernel(launch.buffers, launch.dims, scratch, part, parts);
}

}  // namespace

int32_t RunAlone(const KernelLaunch& launch) { return Call(launch, 0, 0, 1); }

RuntimeStatus ThreadPool::Get(int32_t threads, std::shared_ptr<ThreadPool>* pool) {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> shared;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<ThreadPool> current = shared.lock();
  if (current == nullptr) {
    current = std::make_shared<ThreadPool>();
    shared = current;
  }
  if (RuntimeStatus status = current->Grow(static_cast<size_t>(threads)); !status.ok()) return status;
  *pool = std::move(current);
  return {};
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  for (size_t i = 1; i < threads_.size(); ++i) {
    threads_[i]->number.fetch_add(1, std::memory_order_release);  // its range stays empty
    threads_[i]->number.notify_one();
  }
  for (size_t i = 1; i < threads_.size(); ++i) threads_[i]->worker.join();
}

RuntimeStatus ThreadPool::Grow(size_t threads) {
  const std::lock_guard<std::mutex> lock(mutex_);
  while (threads_.size() < threads) {
    const auto self = static_cast<int32_t>(threads_.size());
    auto thread = std::make_unique<Thread>();
    try {
      if (self != 0) thread->worker = std::thread(&ThreadPool::Work, this, std::ref(*thread), self);
    } catch (const std::system_error&) {
      return {ATTUNE_OUT_OF_MEMORY,
              Joined({"the system has no more threads than ", self, "; use fewer threads"})};
    }
    threads_.push_back(std::move(thread));  // cannot fail, since the memory is reserved
  }
  return {};
}

uint32_t ThreadPool::Await(const std::atomic<uint32_t>& value, uint32_t old) const {
  constexpr int kPausesPerClock = 64;  // reading the clock is slower than a pause
  const auto start = std::chrono::steady_clock::now();
  while (active_runs_.load(std::memory_order_relaxed) > 0 &&
         std::chrono::steady_clock::now() - start < kSpinTime) {
    for (int i = 0; i < kPausesPerClock; ++i) {
      const uint32_t now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      Pause();
    }
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

bool ThreadPool::Claim(std::atomic<Range>& range, uint32_t launch, bool front, Block* block) {
  Range seen = range.load(std::memory_order_acquire);
  while (seen.launch == launch && seen.begin != seen.end) {
    const int32_t size = BlockSize(front ? seen.begin : seen.end, seen.end - seen.begin);
    *block = {front ? seen.begin : seen.end - size, size};
    Range rest = seen;
    if (front) {
      rest.begin = static_cast<uint8_t>(rest.begin + size);
    } else {
      rest.end = static_cast<uint8_t>(rest.end - size);
    }
    if (range.compare_exchange_weak(seen, rest, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

void ThreadPool::RunBlock(int32_t owner, const Block& block, int32_t self) {
  const KernelLaunch& launch = threads_[static_cast<size_t>(self)]->launch;
  const int shift = std::countr_zero(static_cast<uint32_t>(block.size));
  const int32_t part = (owner * kUnits + block.begin) >> shift;
  const int32_t parts = (launch.threads * kUnits) >> shift;
  const int32_t failure = Call(launch, self, part, parts);
  if (failure != 0) failure_.store(failure, std::memory_order_relaxed);
}

uint32_t ThreadPool::Drain(int32_t owner, uint32_t launch, int32_t self) {
  std::atomic<Range>& range = threads_[static_cast<size_t>(owner)]->range;
  uint32_t units = 0;
  for (Block block; Claim(range, launch, owner == self, &block); units += static_cast<uint32_t>(block.size)) {
    RunBlock(owner, block, self);
  }
  return units;
}

void ThreadPool::DrainAndReport(int32_t owner, uint32_t launch, int32_t self) {
  const uint32_t units = Drain(owner, launch, self);
  if (units == 0) return;
  done_.fetch_add(units, std::memory_order_release);
  done_.notify_one();
}

void ThreadPool::Work(Thread& thread, int32_t self) {
  const IeeeMode mode;
  for (uint32_t seen = 0; !stopping_.load(std::memory_order_relaxed);) {
    seen = Await(thread.number, seen);
    const Range range = thread.range.load(std::memory_order_acquire);
    DrainAndReport(self, range.launch, self);
    if (Soon([&] { return thread.number.load(std::memory_order_relaxed) != seen; })) continue;
    for (int32_t i = 1; i < range.threads; ++i) {
      DrainAndReport((self + i) % range.threads, range.launch, self);
    }
  }
}

uint32_t ThreadPool::Offer(const KernelLaunch& launch) {
  const Range range = {++launches_, static_cast<uint16_t>(launch.threads), 0, kUnits};
  for (int32_t i = launch.threads - 1; i >= 0; --i) {
    Thread& thread = *threads_[static_cast<size_t>(i)];
    thread.launch = launch;
    thread.range.store(range, std::memory_order_release);
    if (i == 0) break;
    thread.number.store(range.launch, std::memory_order_release);
    thread.number.notify_one();
  }
  return range.launch;
}

int32_t ThreadPool::Run(const KernelLaunch& launch) {
  if (launch.threads == 1) return RunAlone(launch);
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return RunAlone(launch);

  const uint32_t number = Offer(launch);
  done_in_the_end_ += static_cast<uint32_t>(launch.threads * kUnits) - Drain(0, number, 0);
  if (!Soon([&] { return done_.load(std::memory_order_relaxed) == done_in_the_end_; })) {
    for (int32_t i = 1; i < launch.threads; ++i) done_in_the_end_ -= Drain(i, number, 0);
  }
  uint32_t done = done_.load(std::memory_order_acquire);
  while (done != done_in_the_end_) done = Await(done_, done);
  const int32_t failure = failure_.load(std::memory_order_relaxed);
  if (failure != 0) failure_.store(0, std::memory_order_relaxed);
  return failure;
}

}  // namespace attune

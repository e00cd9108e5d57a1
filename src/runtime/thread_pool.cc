#include "runtime/thread_pool.h"

#include <chrono>
#include <system_error>

namespace attune {
namespace {

// How long to spin before sleeping: some times what waking a thread costs.
constexpr std::chrono::microseconds kSpinTime(200);

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace

// Compiled kernels lack the signature that the sanitizer of calls looks for before a function.
[[clang::no_sanitize("function")]] int32_t RunParts(const KernelLaunch& launch, int32_t begin, int32_t end) {
  for (int32_t part = begin; part < end; ++part) {
    std::byte* scratch = launch.scratch + static_cast<uint64_t>(part) * launch.scratch_stride;
    const int32_t failure = launch.kernel(launch.buffers, launch.dims, scratch, part, launch.parts);
    if (failure != 0) return failure;
  }
  return 0;
}

RuntimeStatus ThreadPool::Get(int32_t threads, std::shared_ptr<ThreadPool>* pool) {
  static std::mutex mutex;
  static std::weak_ptr<ThreadPool> shared;
  const std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<ThreadPool> current = shared.lock();
  if (current == nullptr) {
    current = std::make_shared<ThreadPool>();
    shared = current;
  }
  if (RuntimeStatus status = current->Grow(static_cast<size_t>(threads) - 1); !status.ok()) return status;
  *pool = std::move(current);
  return {};
}

ThreadPool::~ThreadPool() {
  stopping_.store(true, std::memory_order_relaxed);
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->ticket.fetch_add(2, std::memory_order_release);  // a change that offers nothing
    worker->ticket.notify_one();
  }
  for (const std::unique_ptr<Worker>& worker : workers_) worker->thread.join();
}

RuntimeStatus ThreadPool::Grow(size_t workers) {
  const std::lock_guard<std::mutex> lock(mutex_);
  workers_.reserve(workers);
  while (workers_.size() < workers) {
    auto worker = std::make_unique<Worker>();
    const int32_t part = static_cast<int32_t>(workers_.size()) + 1;
    try {
      worker->thread = std::thread(&ThreadPool::Work, this, std::ref(*worker), part);
    } catch (const std::system_error&) {
      return {ATTUNE_OUT_OF_MEMORY,
              "the system has no more threads than " + std::to_string(part) + "; use fewer threads"};
    }
    workers_.push_back(std::move(worker));
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

bool ThreadPool::Claim(Worker& worker, uint32_t* ticket) {
  *ticket = worker.ticket.load(std::memory_order_acquire);
  if (*ticket % 2 == 0) return false;
  if (!worker.ticket.compare_exchange_strong(*ticket, *ticket + 1, std::memory_order_acq_rel)) return false;
  ++*ticket;
  return true;
}

void ThreadPool::RunClaimed(int32_t part) {
  if (const int32_t failure = RunParts(*launch_, part, part + 1); failure != 0) {
    failure_.store(failure, std::memory_order_relaxed);
  }
  if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
}

void ThreadPool::Work(Worker& worker, int32_t part) {
  // Claim() may be what sees the ticket that ~ThreadPool raised: stopping_ is looked at after it.
  for (uint32_t ticket = 0; !stopping_.load(std::memory_order_relaxed);) {
    Await(worker.ticket, ticket);
    if (Claim(worker, &ticket)) RunClaimed(part);
  }
}

int32_t ThreadPool::Run(const KernelLaunch& launch) {
  if (launch.parts == 1) return RunParts(launch, 0, 1);
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return RunParts(launch, 0, launch.parts);

  launch_ = &launch;
  failure_.store(0, std::memory_order_relaxed);
  const int32_t offered = launch.parts - 1;
  pending_.store(static_cast<uint32_t>(offered), std::memory_order_relaxed);
  for (int32_t i = 0; i < offered; ++i) {
    workers_[i]->ticket.fetch_add(1, std::memory_order_release);
    workers_[i]->ticket.notify_one();
  }
  const int32_t failure = RunParts(launch, 0, 1);
  for (int32_t i = 0; i < offered; ++i) {
    if (uint32_t ticket; Claim(*workers_[i], &ticket)) RunClaimed(i + 1);
  }
  for (uint32_t left = pending_.load(std::memory_order_acquire); left != 0;) left = Await(pending_, left);
  return failure != 0 ? failure : failure_.load(std::memory_order_relaxed);
}

}  // namespace attune

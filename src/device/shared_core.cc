#include "device/shared_core.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/threads.h"
#include "device/pin.h"

namespace attune {
namespace {

// Independent chains of products, more than it takes to fill the multiplier's pipeline.
class Chains {
 public:
  void Step() {
    constexpr int kSteps = 1000;
    for (int step = 0; step < kSteps; ++step) {
      for (uint64_t& value : values_) value = value * kFactor + 1;
    }
  }
  // Keeps the compiler from leaving the products out.
  uint64_t sum() const {
    uint64_t sum = 0;
    for (const uint64_t value : values_) sum += value;
    return sum;
  }

 private:
  static constexpr uint64_t kFactor = 6364136223846793005u;
  std::array<uint64_t, 8> values_ = {1, 2, 3, 4, 5, 6, 7, 8};
};

constexpr double kRoundSeconds = 0.012;

std::atomic<uint64_t> sink;

// The seconds that this thread has run: a thread that waits for its processor is not slow.
double RunSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Steps in a second of running.
double Speed() {
  Chains chains;
  const double begin = RunSeconds();
  int64_t steps = 0;
  for (; RunSeconds() < begin + kRoundSeconds; ++steps) chains.Step();
  sink += chains.sum();
  return static_cast<double>(steps) / (RunSeconds() - begin);
}

// Keeps other processors busy, as well as they can be.
class Spinners {
 public:
  // Returns when all spin that could be started.
  explicit Spinners(std::span<const int> processors) : threads_(processors.size()) {
    size_t started = 0;
    for (size_t i = 0; i < processors.size(); ++i) {
      const bool has_started = StartThread(threads_[i], [this, processor = processors.subspan(i, 1)] {
        const PinnedTo pin(processor);
        Chains chains;
        ++spinning_;
        while (!ends_) chains.Step();
        sink += chains.sum();
      });
      started += has_started ? 1 : 0;
    }
    while (spinning_ < started) std::this_thread::yield();
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;
  ~Spinners() {
    ends_ = true;
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  std::atomic<size_t> spinning_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

double SpeedBeside(int measured, std::span<const int> others) {
  const PinnedTo pin(std::array{measured});
  if (!pin.is_pinned()) return 1;
  constexpr int kRoundsAlone = 3;
  constexpr double kPatience = 1;  // seconds
  double alone = 1, beside = 0;
  for (int round = 0; round < kRoundsAlone; ++round) alone = std::max(alone, Speed());
  const Spinners spinners(others);
  for (const Stopwatch watch; beside < kSharedCoreSpeed * alone && watch.Seconds() < kPatience;)
    beside = std::max(beside, Speed());
  return std::min(beside / alone, 1.0);
}

}  // namespace attune

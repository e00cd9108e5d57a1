#include "device/shared_core.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

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

// The speed while other threads spin, one on each of these processors.
double SpeedWhileOthersSpin(std::span<const int> others) {
  std::atomic<size_t> spinning = 0;
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads(others.size());
  size_t started = 0;
  for (size_t i = 0; i < others.size(); ++i) {
    const bool has_started = StartThread(threads[i], [&, i] {
      const PinnedTo pin(others.subspan(i, 1));
      Chains chains;
      ++spinning;
      while (!ends) chains.Step();
      sink += chains.sum();
    });
    started += has_started ? 1 : 0;
  }
  while (spinning < started) std::this_thread::yield();
  const double speed = Speed();
  ends = true;
  for (std::thread& thread : threads)
    if (thread.joinable()) thread.join();
  return speed;
}

}  // namespace

double SpeedBeside(int measured, std::span<const int> others) {
  const PinnedTo pin(std::array{measured});
  if (!pin.is_pinned()) return 1;
  double best = 0;
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds && best < kSharedCoreSpeed; ++round) {
    const double alone = std::max(Speed(), 1.0);
    best = std::max(best, SpeedWhileOthersSpin(others) / alone);
  }
  return std::min(best, 1.0);
}

}  // namespace attune

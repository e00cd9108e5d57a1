#include "base/clock.h"

#include <algorithm>
#include <chrono>

namespace attune {
namespace {

constexpr std::chrono::milliseconds kLookPause(1);
constexpr double kMaxWaitSeconds = 3600;  // in one piece, so that an infinite time is no special case

class RealClock final : public Clock {
 public:
  double Now() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  int64_t WallMillis() const override {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count();
  }
  void WaitUntil(double time, std::condition_variable& changed,
                 std::unique_lock<std::mutex>& lock) const override {
    const double seconds = std::clamp(time - Now(), 0.0, kMaxWaitSeconds);
    changed.wait_for(lock, std::chrono::duration<double>(seconds));
  }
};

}  // namespace

void Clock::WaitUntil(double time, std::condition_variable& changed,
                      std::unique_lock<std::mutex>& lock) const {
  if (Now() < time) changed.wait_for(lock, kLookPause);
}

const Clock& SystemClock() {
  static const RealClock clock;
  return clock;
}

}  // namespace attune

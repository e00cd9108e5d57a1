// A clock for tests that runs as the system's does, but can skip time and be stopped.
#ifndef ATTUNE_BASE_TESTING_SKIPPING_CLOCK_H_
#define ATTUNE_BASE_TESTING_SKIPPING_CLOCK_H_

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/clock.h"

namespace attune::testing {

// Thread safe.
class SkippingClock final : public Clock {
 public:
  double Now() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return skipped_ + stopped_at_.value_or(SystemClock().Now());
  }
  // The time of the system, whatever Now() does.
  int64_t WallMillis() const override { return SystemClock().WallMillis(); }

  // Lets this much time pass at once.
  void Skip(double seconds) {
    const std::lock_guard<std::mutex> lock(mutex_);
    skipped_ += seconds;
  }
  // From now on, time passes by Skip() alone.
  void Stop() {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_at_ = SystemClock().Now();
  }

 private:
  mutable std::mutex mutex_;
  double skipped_ = 0;
  std::optional<double> stopped_at_;
};

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_SKIPPING_CLOCK_H_

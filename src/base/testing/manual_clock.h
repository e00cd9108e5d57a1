// A clock for tests that stands still until it is moved.
#ifndef ATTUNE_BASE_TESTING_MANUAL_CLOCK_H_
#define ATTUNE_BASE_TESTING_MANUAL_CLOCK_H_

#include <atomic>

#include "base/clock.h"

namespace attune {

class ManualClock final : public Clock {
 public:
  double Now() const override { return now_.load(); }
  int64_t WallMillis() const override { return static_cast<int64_t>(1e3 * (now_.load() + jumped_.load())); }
  void Advance(double seconds) { now_ = now_ + seconds; }
  // Sets the wall clock forward, or back.
  void JumpWall(double seconds) { jumped_ = jumped_ + seconds; }

 private:
  std::atomic<double> now_ = 1000, jumped_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_BASE_TESTING_MANUAL_CLOCK_H_

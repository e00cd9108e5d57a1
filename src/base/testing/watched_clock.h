// A clock for tests of threads that wait by it: it stands still until it is moved, and counts how often it is
// read.
#ifndef ATTUNE_BASE_TESTING_WATCHED_CLOCK_H_
#define ATTUNE_BASE_TESTING_WATCHED_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/testing/await_that.h"
#include "base/testing/manual_clock.h"

namespace attune {

class WatchedClock final : public Clock {
 public:
  double Now() const override {
    ++looks_;
    return clock_.Now();
  }
  int64_t WallMillis() const override { return clock_.WallMillis(); }
  void Advance(double seconds) { clock_.Advance(seconds); }
  // Returns once a thread that waits has seen the present time, and waits again. Only its own step may read
  // the clock meanwhile, and at most ten times.
  void AwaitLooks() const {
    const int64_t before = looks_;
    testing::AwaitThat([&] { return looks_ > before + 10; });
  }

 private:
  ManualClock clock_;
  mutable std::atomic<int64_t> looks_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_BASE_TESTING_WATCHED_CLOCK_H_

// Pauses between attempts to connect to a server.
#ifndef ATTUNE_BASE_BACKOFF_H_
#define ATTUNE_BASE_BACKOFF_H_

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/random/random.h"
#include "base/clock.h"

namespace attune {

// The pauses double until they are long. Each is drawn between half of it and all, so that all who have lost
// a server do not come back at once. Not thread safe.
class Backoff {
 public:
  // Seconds.
  double Next() {
    const double pause = absl::Uniform(random_, pause_ / 2, pause_);
    pause_ = std::min(2 * pause_, kMostSeconds);
    return pause;
  }
  // Waits for `seconds`, but at least `at_least`, or until `is_over`, which is asked again and again.
  template <typename IsOver>
  void Pause(const IsOver& is_over, double at_least = 0) {
    const double seconds = std::max(Next(), at_least);
    for (const Stopwatch waiting; waiting.Seconds() < seconds && !is_over();)
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(kPollSeconds, seconds)));
  }
  // The server has answered.
  void Reset() { pause_ = kFirstSeconds; }

 private:
  static constexpr double kFirstSeconds = 0.5, kMostSeconds = 10, kPollSeconds = 0.25;

  absl::BitGen random_;
  double pause_ = kFirstSeconds;
};

}  // namespace attune

#endif  // ATTUNE_BASE_BACKOFF_H_

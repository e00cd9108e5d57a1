// Pauses between attempts to connect to a server.
#ifndef ATTUNE_FLEET_CLIENT_BACKOFF_H_
#define ATTUNE_FLEET_CLIENT_BACKOFF_H_

#include <algorithm>

#include "absl/random/random.h"

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
  // The server has answered.
  void Reset() { pause_ = kFirstSeconds; }

 private:
  static constexpr double kFirstSeconds = 0.5, kMostSeconds = 10;

  absl::BitGen random_;
  double pause_ = kFirstSeconds;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_BACKOFF_H_

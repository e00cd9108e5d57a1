// Measures on a device until no other program disturbs it.
#ifndef ATTUNE_KINDS_QUIET_RUNS_H_
#define ATTUNE_KINDS_QUIET_RUNS_H_

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "device/contention.h"

namespace attune {

// How many times a disturbed measurement is tried, and how long it waits before the second attempt, and twice
// as long before each one after that.
inline constexpr int kQuietAttempts = 4;
inline constexpr double kFirstPauseSeconds = 1;

// Returns the first result whose `waited_share` is no disturbance (kDisturbedShare), else the least disturbed
// one of all attempts. `pause` waits for that many seconds, or returns false if the result is not wanted any
// more. Fails as `run` does.
template <typename Result>
absl::StatusOr<Result> RunQuietly(const std::function<absl::StatusOr<Result>()>& run,
                                  const std::function<bool(double seconds)>& pause) {
  ASSIGN_OR_RETURN(Result best, run());
  double seconds = kFirstPauseSeconds;
  for (int attempt = 1; attempt < kQuietAttempts && best.waited_share >= kDisturbedShare; ++attempt) {
    if (!pause(seconds)) break;
    seconds *= 2;
    ASSIGN_OR_RETURN(Result again, run());
    if (again.waited_share < best.waited_share) best = std::move(again);
  }
  return best;
}

}  // namespace attune

#endif  // ATTUNE_KINDS_QUIET_RUNS_H_

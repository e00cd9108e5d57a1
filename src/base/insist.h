// Repeats what fails while a server is away.
#ifndef ATTUNE_BASE_INSIST_H_
#define ATTUNE_BASE_INSIST_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace attune {

struct InsistOptions {
  int tries = 8;  // of an attempt, while nothing moves
  // Whether to give up; is asked again and again during pauses. Null: never.
  std::function<bool()> is_cancelled = nullptr;
  // Is told of the first failure. May be null.
  std::function<void(const absl::Status& why)> on_away = nullptr;
  // The seconds that a failure asks to wait for at least. Null: none does.
  std::function<double(const absl::Status& why)> seconds_asked = nullptr;
};

// Repeats `attempt` while it is Unavailable, after longer pauses each time (Backoff), and gives up when
// `position`, which it moves forward, stays. Returns the last status, or Cancelled.
absl::Status Insist(const int64_t& position, const std::function<absl::Status()>& attempt,
                    const InsistOptions& options);

}  // namespace attune

#endif  // ATTUNE_BASE_INSIST_H_

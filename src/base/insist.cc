#include "base/insist.h"

#include <utility>

#include "base/backoff.h"

namespace attune {

absl::Status Insist(const int64_t& position, const std::function<absl::Status()>& attempt,
                    const InsistOptions& options) {
  const auto is_cancelled = [&] { return options.is_cancelled && options.is_cancelled(); };
  Backoff backoff;
  bool is_told = false;
  for (int tries = 1;; ++tries) {
    const int64_t before = position;
    const absl::Status status = attempt();
    if (!absl::IsUnavailable(status)) return status;
    if (position > before) {
      tries = 1;
      backoff.Reset();
    }
    if (tries >= options.tries) return status;
    if (options.on_away && !std::exchange(is_told, true)) options.on_away(status);
    backoff.Pause(is_cancelled, options.seconds_asked ? options.seconds_asked(status) : 0);
    if (is_cancelled()) return absl::CancelledError("the call was cancelled");
  }
}

}  // namespace attune

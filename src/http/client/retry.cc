#include "http/client/retry.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"

namespace attune {

bool IsPassing(const HttpAnswer& answer) {
  return answer.status == 429 || answer.status == 502 || answer.status == 503 || answer.status == 504;
}

double RetryAfter(const HttpAnswer& answer, const Clock& clock) {
  constexpr double kMost = 300;
  const std::string_view text = answer.Header("retry-after");
  int64_t seconds = 0;
  if (absl::SimpleAtoi(text, &seconds)) return std::clamp(static_cast<double>(seconds), 0.0, kMost);
  absl::Time when;
  std::string error;
  if (!absl::ParseTime("%a, %d %b %Y %H:%M:%S GMT", text, &when, &error)) return 0;
  const double from_now = absl::ToDoubleSeconds(when - absl::FromUnixMillis(clock.WallMillis()));
  return std::clamp(from_now, 0.0, kMost);
}

}  // namespace attune

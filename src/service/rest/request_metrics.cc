#include "service/rest/request_metrics.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace attune {

void RequestMetrics::Count(const std::string& operation, int status, double seconds) {
  constexpr int kHundred = 100;
  const auto of_class = static_cast<size_t>(std::clamp<int>(status / kHundred, 1, kClasses)) - 1;
  const auto bucket = std::distance(kBounds.begin(), std::ranges::lower_bound(kBounds, seconds));
  const std::lock_guard<std::mutex> lock(mutex_);
  Counts& counts = counts_[operation];
  ++counts.by_class[of_class];
  ++counts.by_seconds[static_cast<size_t>(bucket)];
  counts.seconds += seconds;
}

void RequestMetrics::AddTo(MetricsText& text) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  text.Begin("attune_http_requests_total", "counter",
             "Requests that were answered, by operation and status.");
  for (const auto& [operation, counts] : counts_) {
    for (size_t i = 0; i < kClasses; ++i) {
      if (counts.by_class[i] == 0) continue;
      text.Add(static_cast<double>(counts.by_class[i]),
               {{"operation", operation}, {"status", absl::StrCat(i + 1, "xx")}});
    }
  }
  text.Begin("attune_http_request_seconds", "histogram", "Seconds until requests were answered.");
  for (const auto& [operation, counts] : counts_)
    text.AddHistogram(kBounds, counts.by_seconds, counts.seconds, {{"operation", operation}});
}

}  // namespace attune

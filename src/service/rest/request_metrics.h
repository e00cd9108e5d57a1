// How many requests there were, and how long their answers took.
#ifndef ATTUNE_SERVICE_REST_REQUEST_METRICS_H_
#define ATTUNE_SERVICE_REST_REQUEST_METRICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "base/metrics_text.h"

namespace attune {

// Thread safe.
class RequestMetrics {
 public:
  // `operation`: its id, of which there are few. `seconds`: from when the whole request was there until the
  // answer was; a stream's events count for nothing.
  void Count(const std::string& operation, int status, double seconds);
  void AddTo(MetricsText& text) const;

 private:
  // In seconds. Known answers are to come within 50 ms.
  static constexpr std::array<double, 10> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5};
  static constexpr size_t kClasses = 5;  // of statuses: 1xx to 5xx

  struct Counts {
    std::array<int64_t, kClasses> by_class = {};
    std::array<int64_t, kBounds.size() + 1> by_seconds = {};
    double seconds = 0;  // of all together
  };

  mutable std::mutex mutex_;
  std::map<std::string, Counts> counts_;  // by operation
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_REQUEST_METRICS_H_

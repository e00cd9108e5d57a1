// How many promises of jobs were met and broken.
#ifndef ATTUNE_SERVICE_AGREEMENT_PROMISE_COUNTS_H_
#define ATTUNE_SERVICE_AGREEMENT_PROMISE_COUNTS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics_text.h"
#include "service/agreement/promise.h"

namespace attune {

// Thread safe.
class PromiseCounts {
 public:
  PromiseCounts();

  // The promises of a job that has ended.
  void Count(const std::vector<Promise>& promises);
  void AddTo(MetricsText& text) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, PromiseState>, int64_t> counts_;  // by name and state: met or broken
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_PROMISE_COUNTS_H_

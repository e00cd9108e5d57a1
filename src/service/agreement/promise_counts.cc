#include "service/agreement/promise_counts.h"

namespace attune {

// Each is there from the beginning, so that a first broken promise is an increase.
PromiseCounts::PromiseCounts() {
  for (const char* name : {kLatencyMean, kLatencyP99, kAccuracyLoss, kSizeBytes, kDeadline, kDeviceSeconds})
    for (const PromiseState state : {PromiseState::kMet, PromiseState::kBroken}) counts_[{name, state}] = 0;
}

void PromiseCounts::Count(const std::vector<Promise>& promises) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Promise& promise : promises) {
    const auto found = counts_.find({promise.name, promise.state});
    if (found != counts_.end()) ++found->second;
  }
}

void PromiseCounts::AddTo(MetricsText& text) const {
  text.Begin("attune_promises_total", "counter", "Promises of jobs that have run and ended, by result.");
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [promise, count] : counts_)
    text.Add(static_cast<double>(count),
             {{"promise", promise.first}, {"result", std::string(Name(promise.second))}});
}

}  // namespace attune

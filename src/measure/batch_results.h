// The results of a batch, on their way from those who measure to the one who waits.
#ifndef ATTUNE_MEASURE_BATCH_RESULTS_H_
#define ATTUNE_MEASURE_BATCH_RESULTS_H_

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/process/message.h"
#include "measure/item.h"

namespace attune {

// Each item has one result. Thread safe.
class BatchResults {
 public:
  explicit BatchResults(size_t items) : done_(items, false) {}

  // The item must not be done yet.
  void Deliver(size_t index, Measurement measurement) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Add(index, std::move(measurement));
  }
  // Items without a result so far get a failed one.
  void Drop(const std::string& reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < done_.size(); ++i)
      if (!done_[i]) Add(i, FailedMeasurement(TrialOutcome::kRetry, reason));
  }
  bool IsDone(size_t index) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return done_[index];
  }
  bool AllAreDone() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return num_done_ == done_.size();
  }

  // As MeasureBatch's.
  std::optional<std::pair<size_t, Measurement>> Next(Deadline deadline) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return !results_.empty() || taken_ == done_.size(); });
    if (results_.empty()) return std::nullopt;
    std::pair<size_t, Measurement> first = std::move(results_.front());
    results_.pop_front();
    ++taken_;
    return first;
  }
  bool is_over() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return taken_ == done_.size();
  }

 private:
  void Add(size_t index, Measurement measurement) {
    done_[index] = true;
    ++num_done_;
    results_.emplace_back(index, std::move(measurement));
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> done_;  // by item
  size_t num_done_ = 0, taken_ = 0;
  std::deque<std::pair<size_t, Measurement>> results_;
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_BATCH_RESULTS_H_

// For tests of work that reports its progress and can be cancelled.
#ifndef ATTUNE_BASE_TESTING_KEPT_PROGRESS_H_
#define ATTUNE_BASE_TESTING_KEPT_PROGRESS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"

namespace attune::testing {

// Records what is reported, and cancels the work after a given number of reports.
class KeptProgress final : public ProgressSink {
 public:
  explicit KeptProgress(int64_t most_reports = INT64_MAX) : most_reports_(most_reports) {}

  void Report(std::string_view what, int64_t done, int64_t total) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (++reports_ >= most_reports_) cancellation_.Cancel();
    if (stages_.empty() || stages_.back() != what) stages_.emplace_back(what);
    if (total > 0) is_within_total_ &= 0 <= done && done <= total;
  }

  WorkControl control() { return {&cancellation_, this}; }
  int64_t reports() const { return reports_; }
  // The stages reported, each once even if it was reported several times in a row.
  const std::vector<std::string>& stages() const { return stages_; }
  bool is_within_total() const { return is_within_total_; }

 private:
  const int64_t most_reports_;
  std::mutex mutex_;
  Cancellation cancellation_;
  int64_t reports_ = 0;
  std::vector<std::string> stages_;
  bool is_within_total_ = true;
};

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_KEPT_PROGRESS_H_

// The longest that one execution of a candidate may take before it is stopped.
#ifndef ATTUNE_TUNE_JOB_EXECUTION_LIMIT_H_
#define ATTUNE_TUNE_JOB_EXECUTION_LIMIT_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "measure/item.h"

namespace attune {

// The limit begins low, so that candidates that hang cost little, and is doubled after each batch in which
// more than a tenth of the candidates took longer. Candidates are never stopped before they are twice as slow
// as their baseline, and nothing is stopped before its baseline is known. Not thread safe.
class ExecutionLimit {
 public:
  // A limit of so many seconds that stays; 0: one that rises.
  explicit ExecutionLimit(double fixed) : rises_(fixed <= 0), seconds_(rises_ ? kLeast : fixed) {}

  // For a candidate whose baseline takes this long; none: it is not known yet.
  double Of(std::optional<double> baseline_seconds) const {
    constexpr double kSlower = 2;
    const double most = std::max(seconds_, MeasureOptions().execution_seconds_limit);
    return baseline_seconds ? std::max(seconds_, kSlower * *baseline_seconds) : most;
  }

  // Counts a candidate that was executed.
  void Note(bool has_timed_out) {
    ++executed_;
    timed_out_ += has_timed_out ? 1 : 0;
  }
  void EndBatch() {
    constexpr double kTooMany = 0.1;
    const bool is_too_low = static_cast<double>(timed_out_) > kTooMany * static_cast<double>(executed_);
    if (rises_ && is_too_low) seconds_ = std::min(2 * seconds_, MeasureOptions().execution_seconds_limit);
    executed_ = timed_out_ = 0;
  }

 private:
  static constexpr double kLeast = 1;

  bool rises_;
  double seconds_;
  int64_t executed_ = 0, timed_out_ = 0;  // in this batch
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_EXECUTION_LIMIT_H_

// The outcome and the timing of a measurement.
#ifndef ATTUNE_MEASURE_OUTCOME_H_
#define ATTUNE_MEASURE_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/process/worker_process.h"

namespace attune {

// The order is that of the table of names in outcome.cc.
enum class TrialOutcome : uint8_t {
  kOk,
  kBuildFailed,
  kCrashed,
  kTimedOut,
  kWrongResult,  // further from the reference than allowed
  kOutOfMemory,
  kInvalidTiming,  // no two repetitions agreed, or a clock stood still
  kRetry,          // the measurement itself failed, which says nothing about the candidate
};
// "ok", "build_failed", "crashed", "timed_out", "wrong_result", "out_of_memory", "invalid_timing", "retry".
std::string_view Name(TrialOutcome outcome);
std::optional<TrialOutcome> ParseTrialOutcome(std::string_view name);  // "other" is an old name of "retry"
// The outcome for a kernel whose process ended in this way by its own fault.
TrialOutcome OutcomeOf(const ProcessEnd& end);

// Which of the kernel's inputs are in the caches before each execution: none (cold), all (warm), or as in a
// network, where a kernel reads its input just after another kernel has written it, while the weights of
// the whole network have driven its own weights out of the caches.
enum class CacheMode : uint8_t { kCold, kWarm, kNetwork };
std::string_view Name(CacheMode mode);  // "cold", "warm", "network"
std::optional<CacheMode> ParseCacheMode(std::string_view name);

// The time of one execution of the kernel in seconds: the median of the repetitions and its confidence
// interval.
struct Timing {
  double seconds = 0;  // > 0
  double low = 0;      // 0 <= low <= seconds <= high
  double high = 0;
  int64_t repetitions = 0;  // >= 1
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_OUTCOME_H_

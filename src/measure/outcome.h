// How a measurement ends, and what it says.
#ifndef ATTUNE_MEASURE_OUTCOME_H_
#define ATTUNE_MEASURE_OUTCOME_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/process/worker_process.h"

namespace attune {

// How a measurement ended. The order is that of the table of names in outcome.cc.
enum class TrialOutcome : uint8_t {
  kOk,
  kBuildFailed,
  kCrashed,
  kTimedOut,
  kWrongResult,  // further from the reference than allowed
  kOutOfMemory,
  kInvalidTiming,  // no two repetitions agreed, or a clock stood still
  kRetry,          // what measures did not work, which says nothing of the candidate
};
// "ok", "build_failed", "crashed", "timed_out", "wrong_result", "out_of_memory", "invalid_timing", "retry".
std::string_view Name(TrialOutcome outcome);
std::optional<TrialOutcome> ParseTrialOutcome(std::string_view name);  // "other" is an old name of "retry"
// Of a kernel whose process ended so by its own fault.
TrialOutcome OutcomeOf(const ProcessEnd& end);

// Whether what the kernel reads was in the caches before each repetition: nothing, or all of it, or as it is
// in a network, where a kernel finds its input as another has just left it, and its weights as far away as
// all weights of the network together drive them.
enum class CacheMode : uint8_t { kCold, kWarm, kNetwork };
std::string_view Name(CacheMode mode);  // "cold", "warm", "network"
std::optional<CacheMode> ParseCacheMode(std::string_view name);

// Of one execution of the kernel, in seconds: the median of the repetitions and its confidence interval.
struct Timing {
  double seconds = 0;  // > 0
  double low = 0;      // 0 <= low <= seconds <= high
  double high = 0;
  int64_t repetitions = 0;  // >= 1
};

}  // namespace attune

#endif  // ATTUNE_MEASURE_OUTCOME_H_

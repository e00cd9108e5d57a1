// Judges how long one inference takes, from many runs of the whole network.
//
// A promise is about the mean and about the slowest of a hundred, so both have an interval that holds the
// true value with 95 %. The interval of the mean comes from the means of consecutive runs, since runs that
// follow one another are alike (batch means: Law, Kelton: Simulation modeling and analysis, 2000, section
// 9.5.3). The interval of the 99 % quantile comes from order statistics alone, for any distribution (David,
// Nagaraja: Order statistics, 2003, section 7.1).
#ifndef ATTUNE_KINDS_LATENCY_JUDGEMENT_H_
#define ATTUNE_KINDS_LATENCY_JUDGEMENT_H_

#include <cstdint>
#include <limits>
#include <span>

#include "nlohmann/json.hpp"

namespace attune {

// A value, and the interval that holds it with 95 %. Without an upper end, it is infinite.
struct JudgedValue {
  double value = 0;
  double low = 0, high = std::numeric_limits<double>::infinity();
};

struct LatencyJudgement {
  int64_t runs = 0;
  JudgedValue mean, p99;  // milliseconds
};

// The fewest runs of which the 99 % quantile has an upper end.
inline constexpr int64_t kLeastRunsForP99 = 368;

// `milliseconds`: of runs in their order, at least one.
LatencyJudgement JudgeLatency(std::span<const double> milliseconds);

// {"runs": …, "mean_ms": [value, low, high], "p99_ms": […]}; an infinite end is null.
nlohmann::ordered_json ToJson(const LatencyJudgement& judgement);

}  // namespace attune

#endif  // ATTUNE_KINDS_LATENCY_JUDGEMENT_H_

// Checks whether a measurement can be the answer to an item, for clients of another process.
#ifndef ATTUNE_MEASURE_ANSWER_CHECK_H_
#define ATTUNE_MEASURE_ANSWER_CHECK_H_

#include "absl/status/status.h"
#include "base/status.h"
#include "measure/item.h"

namespace attune {

// Fails for what no device measures: a time of 0, which would beat all others for ever, or one that is not in
// its own interval.
inline absl::Status CheckAnswer(const MeasureItem& item, const Measurement& measurement) {
  using enum MeasureItem::Kind;
  const Timing& timing = measurement.timing;
  const bool is_timed = item.kind == kTimeKernel || item.kind == kTimeNetwork;
  if (!is_timed || measurement.outcome != TrialOutcome::kOk) return absl::OkStatus();
  const bool makes_sense = timing.seconds > 0 && timing.repetitions >= 1 && timing.low <= timing.seconds &&
                           timing.seconds <= timing.high;
  return makes_sense ? absl::OkStatus() : InvalidInput("a time that nothing takes");
}

}  // namespace attune

#endif  // ATTUNE_MEASURE_ANSWER_CHECK_H_

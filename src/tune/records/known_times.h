// Which of the times that are known of a task is to be believed.
//
// Problem: of many candidates that are measured once, the fastest owes its time in part to selection bias.
// The processor's clock is another one on another day, so that times of two runs do not compare. What was
// right may be found to crash. Idea: a run measures what it found best again, and confirms it; only the best
// that it confirmed speaks for it, since within a run times do compare. A later run that has measured the
// same, and has confirmed what it found best itself, has the last word on it.
#ifndef ATTUNE_TUNE_RECORDS_KNOWN_TIMES_H_
#define ATTUNE_TUNE_RECORDS_KNOWN_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/records/record.h"

namespace attune {

struct KnownTime {
  enum class Kind : uint8_t { kMeasured, kConfirmed, kFailed };
  // Of a measurement, and what proposed it (Record::search).
  static Kind KindOf(bool ok, std::string_view search) {
    return !ok ? Kind::kFailed : search == kConfirmation ? Kind::kConfirmed : Kind::kMeasured;
  }
  Kind kind = Kind::kMeasured;
  std::string config;  // what was measured, in any form: equal texts are the same
  std::string run;
  CacheMode cache = CacheMode::kNetwork;
  double seconds = 0;  // but for failures
  int64_t time_ms = 0;
};

// The places in `times`, which are of one task, device and number of threads, in the order of arriving: what
// is to be believed first comes first. First the best that each run has confirmed, then what else was
// confirmed, then the rest, the fastest first. A time that a later one of its config and caches replaces, or
// a failure of its config, is left out; what was confirmed is replaced by what is confirmed alone.
std::vector<size_t> RankTimes(std::span<const KnownTime> times);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_KNOWN_TIMES_H_

// Decides which of a task's known times to trust.
//
// Problem: of many candidates that are measured once, the fastest owes its time in part to selection bias.
// The processor's clock differs from day to day, so times of two runs are not comparable. A config that was
// right may later be found to crash. Idea: a run measures its best candidates again and confirms them; only
// the best confirmed one represents the run, since times within a run are comparable. If a later run has
// measured the same config, and has confirmed its own best, it has the last word on that config.
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
  // The kind of a measurement, by its success and by what proposed it (Record::search).
  static Kind KindOf(bool ok, std::string_view search) {
    return !ok ? Kind::kFailed : search == kConfirmation ? Kind::kConfirmed : Kind::kMeasured;
  }
  Kind kind = Kind::kMeasured;
  std::string config;  // measured config, in any form: equal texts are the same config
  std::string run;
  CacheMode cache = CacheMode::kNetwork;
  double seconds = 0;  // not set for failures
  int64_t time_ms = 0;
};

// The indices into `times`, which are of one task, device and number of threads in the order in which they
// were added; the most trustworthy time comes first. First the best that each run has confirmed, then other
// confirmed times, then the rest, each sorted by speed, fastest first. Leaves out a time that is replaced
// by a later one of the same config and caches, or followed by a failure of its config; a confirmed time is
// replaced only by a confirmed one.
std::vector<size_t> RankTimes(std::span<const KnownTime> times);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_KNOWN_TIMES_H_

// Converts a record to the candidate that it is about.
#ifndef ATTUNE_TUNE_RECORDS_RECORD_CANDIDATE_H_
#define ATTUNE_TUNE_RECORDS_RECORD_CANDIDATE_H_

#include <optional>

#include "lower/strategy.h"
#include "tune/records/record.h"
#include "tune/task/space.h"

namespace attune {

// Nothing if it is no longer a candidate for the task, for example because its strategy's version is
// different.
inline std::optional<Candidate> CandidateOf(const Record& record, const ConfigSpace& space) {
  const Strategy* strategy = FindStrategy(record.strategy);
  Candidate candidate{record.strategy, record.config};
  const bool fits =
      strategy != nullptr && strategy->version == record.strategy_version && space.Contains(candidate);
  return fits ? std::optional(std::move(candidate)) : std::nullopt;
}

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_CANDIDATE_H_

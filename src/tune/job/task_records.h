// The records of a task tell a new run about good candidates, and where a run that was killed has been.
#ifndef ATTUNE_TUNE_JOB_TASK_RECORDS_H_
#define ATTUNE_TUNE_JOB_TASK_RECORDS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tune/records/record.h"
#include "tune/task/space.h"

namespace attune {

// A record with its candidate.
struct FittingRecord {
  const Record* record;
  Candidate candidate;

  bool ok() const { return record->outcome == TrialOutcome::kOk; }
};

// Returns the records that are still about candidates in the space, in the same order.
std::vector<FittingRecord> FittingRecords(std::span<const Record> records, const ConfigSpace& space);

struct KnownCandidates {
  std::vector<Candidate> best;         // the best first, and maybe one that may be better
  std::optional<Candidate> confirmed;  // the best, if a run has confirmed it
};

// By the records of earlier runs, oldest first.
KnownCandidates BestByRecords(std::span<const FittingRecord> records);

// The best that any run has found, each compared with that run's baseline: the runs are the parts of one job,
// and their devices may differ.
KnownCandidates BestOfParts(std::span<const FittingRecord> records, const Candidate& baseline);

// The times that a run measured before it was killed, relative to the baseline's time, which is measured
// again.
struct ResumedRun {
  std::unordered_map<Candidate, double, CandidateHash> ratios;
  std::vector<double> best;  // after each batch
  int64_t since_gain = 0;    // trials

  // Reads the records of `run`, oldest first. Batches are told apart by their size, and by the numbers of
  // trials, which other tasks have had between.
  static ResumedRun Of(std::span<const FittingRecord> records, const std::string& run,
                       const Candidate& baseline, int batch);
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TASK_RECORDS_H_

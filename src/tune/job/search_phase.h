// The first phase of a tuning job: candidates are proposed, built, checked, timed and learned from, until
// nothing more is hoped for.
#ifndef ATTUNE_TUNE_JOB_SEARCH_PHASE_H_
#define ATTUNE_TUNE_JOB_SEARCH_PHASE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "job/job.h"
#include "tune/job/measuring.h"
#include "tune/job/stage.h"
#include "tune/job/transfer.h"
#include "tune/job/tuning_context.h"

namespace attune {

// Not thread safe.
class SearchPhase {
 public:
  // Outlives it.
  explicit SearchPhase(TuningContext& context) : context_(context), transfer_(context) {}

  // The stage that comes next; nothing when the search is over.
  std::optional<StageKind> next() const { return next_; }
  absl::Status Run(const JobGrant& grant);
  // Tasks or candidates that a stage of that kind has.
  int64_t ItemsOf(StageKind kind) const;

 private:
  absl::Status Prepare();
  absl::Status Calibrate(const JobGrant& grant);
  absl::Status Select();
  absl::Status Check(const JobGrant& grant);
  absl::Status Time(const JobGrant& grant);
  absl::Status Learn();

  // The layouts and tasks that the records speak for.
  absl::Status ChooseLayouts();
  absl::Status LoadRecords();
  // The reference data of all tasks, as far as there is memory for them.
  absl::Status ProvideData();
  bool IsOver() const;
  // The candidates that every task starts with.
  void ChooseFirst();
  void Choose(size_t task, std::vector<Candidate> candidates);
  // What came of an attempt; false where it is to be tried again.
  absl::StatusOr<bool> Take(Attempt& attempt, const Measurement& measurement);
  absl::Status TrainModel();

  TuningContext& context_;
  Transfer transfer_;
  std::optional<StageKind> next_ = StageKind::kPrepare;
  bool has_begun_ = false;  // the first candidates of all tasks are chosen
  std::vector<Attempt> pending_;
  std::vector<Attempt> again_;  // of these, what was not measured for reasons that are not their own
  int given_up_ = 0;  // candidates in a row that could not be measured, however often that was tried
  std::vector<bool>
      touched_;  // tasks of which something was measured since the last time that it was learned
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_SEARCH_PHASE_H_

// The first phase of a tuning job: candidates are proposed, built, checked, timed and learned from, until
// no further gain is expected.
#ifndef ATTUNE_TUNE_JOB_SEARCH_PHASE_H_
#define ATTUNE_TUNE_JOB_SEARCH_PHASE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "base/job.h"
#include "tune/job/measuring.h"
#include "tune/job/stage.h"
#include "tune/job/transfer.h"
#include "tune/job/tuning_context.h"

namespace attune {

// Not thread safe.
class SearchPhase {
 public:
  // `context` must outlive it.
  explicit SearchPhase(TuningContext& context) : context_(context), transfer_(context) {}

  // The next stage; nothing when the search is over.
  std::optional<StageKind> next() const { return next_; }
  absl::Status Run(const JobGrant& grant);
  // The number of tasks or candidates in a stage of that kind.
  int64_t ItemsOf(StageKind kind) const;

 private:
  absl::Status Prepare();
  absl::Status Calibrate(const JobGrant& grant);
  absl::Status Select();
  absl::Status Check(const JobGrant& grant);
  absl::Status Time(const JobGrant& grant);
  absl::Status Learn();

  // Chooses the layouts and tasks by the records.
  absl::Status ChooseLayouts();
  // Takes the tasks, or those of this part of the job, with its share of the trials.
  absl::Status TakeTasks(std::vector<TuningTask> tasks);
  absl::Status LoadRecords();
  // Makes the reference data of all tasks, as long as there is enough memory.
  absl::Status RecordData();
  bool IsOver() const;
  // Chooses the candidates that every task starts with.
  void ChooseFirst();
  void Choose(size_t task, std::vector<Candidate> candidates);
  // Handles the result of an attempt; returns false if the attempt must be repeated.
  absl::StatusOr<bool> Take(Attempt& attempt, const Measurement& measurement);
  absl::Status TrainModel();

  TuningContext& context_;
  Transfer transfer_;
  std::optional<StageKind> next_ = StageKind::kPrepare;
  bool has_begun_ = false;  // whether the first candidates of all tasks were chosen
  std::vector<Attempt> pending_;
  std::vector<Attempt> again_;  // those of `pending_` to repeat, because measuring itself failed
  int given_up_ = 0;            // candidates in a row that could not be measured despite repeated attempts
  std::vector<bool> touched_;   // tasks measured since they were last learned from
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_SEARCH_PHASE_H_

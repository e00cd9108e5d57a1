// The state of one task during tuning: its space, its trials, and the best of them.
#ifndef ATTUNE_TUNE_JOB_TASK_TUNING_H_
#define ATTUNE_TUNE_JOB_TASK_TUNING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "device/roofline.h"
#include "measure/item.h"
#include "tune/job/budget.h"
#include "tune/job/options.h"
#include "tune/job/report.h"
#include "tune/job/task_records.h"
#include "tune/job/task_search.h"
#include "tune/job/task_times.h"
#include "tune/records/record.h"
#include "tune/task/similarity.h"
#include "tune/task/sliced_space.h"

namespace attune {

// Not thread safe.
class TaskTuning {
 public:
  // Proposes candidates of this slice alone; the baseline is measured whatever its slice.
  static absl::StatusOr<std::unique_ptr<TaskTuning>> Create(TuningTask task, const Target& target,
                                                            const TuningOptions& options, uint64_t seed,
                                                            Slice slice = {});

  // The least that the task's kernels do, and the seconds of that on this device: usual ones by the
  // roofline, and a lower bound.
  void SetWork(const Work& work, double roofline, double bound) {
    work_ = work;
    progress_.lower_bound = roofline;
    bound_ = bound;
  }
  const Work& work() const { return work_; }
  double bound() const { return bound_; }  // 0: not known

  const TuningTask& task() const { return search_->task(); }
  const TaskShape& shape() const { return shape_; }
  TaskSearch& search() { return *search_; }
  TaskTimes& times() { return times_; }
  const TaskTimes& times() const { return times_; }
  // The candidate that the baseline is built from.
  const Candidate& Default() const { return search_->space().Default(); }

  // Takes over records of this task, oldest first, as if they had just been tried: from other runs, and
  // from `run`, which is resumed. Records that no longer fit are ignored.
  void Transfer(std::span<const Record> records, const std::string& run, const TuningOptions& options);

  // The candidates to measure before anything is proposed: the baseline, the best one by the records, and
  // one that may be better but was not confirmed. Other candidates have to beat their newly measured times.
  std::vector<Candidate> First() const;
  // One more candidate to measure at first if there are no records. It is the best of `others`, which were
  // fast for other tasks (TaskSearch::BestOf). If even the baseline does not count as a trial, it is at
  // least the first proposal of the search. So the network's time is known after one round, and shows how
  // much each task matters.
  std::optional<Candidate> Guess(std::span<const Candidate> others, const CostModel* model);
  // The next candidates. Empty if the space is exhausted.
  std::vector<Candidate> Propose(int batch, const CostModel* model);

  // Whether the candidate is only measured for comparison and is not a trial: the baseline, before it was
  // measured, if analytic defaults do not count.
  bool IsReference(const Candidate& candidate) const;
  // Adds the result of a candidate that was timed, and its kernel.
  void Add(const Candidate& candidate, const Measurement& measurement, const Blob& kernel,
           const std::string& code_digest);
  void AddFailure(const Candidate& candidate);
  // Ends a batch of trials: reports it to the search strategy and the budget.
  void EndBatch();

  // The candidate that other tasks may try: the best, unless that is the baseline; otherwise the best by
  // the records.
  const Candidate* found() const;
  // TaskTimes::ToConfirm() with what the records say.
  std::vector<Candidate> ToConfirm(size_t most) const { return times_.ToConfirm(most, known_.confirmed); }
  const TaskProgress& progress() const { return progress_; }
  int64_t trials() const { return counts_.trials; }
  bool is_patient(int64_t patience) const { return patience == 0 || counts_.since_gain < patience; }
  void GiveUp() { progress_.is_exhausted = true; }

  TaskSummary Summary() const;

 private:
  struct Counts {
    int64_t trials = 0, failed = 0, transferred = 0, since_gain = 0;
  };

  TaskTuning(std::unique_ptr<TaskSearch> search, TaskShape shape);

  // Rescales what this run measured before it was killed by the baseline's new time.
  void Resume();

  std::unique_ptr<TaskSearch> search_;
  TaskShape shape_;
  TaskTimes times_;
  KnownCandidates known_;
  ResumedRun resumed_;        // until the baseline is measured again
  bool is_resuming_ = false;  // this batch measures the baseline again
  TaskProgress progress_;
  Counts counts_;
  Work work_;
  double bound_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TASK_TUNING_H_

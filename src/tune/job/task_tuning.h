// The state of one task during tuning: its space, its trials, and the best of them.
#ifndef ATTUNE_TUNE_JOB_TASK_TUNING_H_
#define ATTUNE_TUNE_JOB_TASK_TUNING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "device/roofline.h"
#include "measure/blob.h"
#include "measure/item.h"
#include "tune/cost_model/candidate_features.h"
#include "tune/cost_model/cost_model.h"
#include "tune/job/budget.h"
#include "tune/job/options.h"
#include "tune/job/report.h"
#include "tune/records/known_times.h"
#include "tune/records/record.h"
#include "tune/search/search.h"
#include "tune/task/similarity.h"
#include "tune/task/sliced_space.h"
#include "tune/task/space.h"

namespace attune {

// The kernel that all candidates of a task are compared with, built from the analytic default config.
struct Baseline {
  Blob kernel;
  std::string code_digest;
  double seconds = 0;  // in this run, > 0
};

// Not thread safe.
class TaskTuning {
 public:
  // Proposes candidates of this slice alone; the baseline is measured whatever its slice.
  static absl::StatusOr<std::unique_ptr<TaskTuning>> Create(TuningTask task, const Target& target,
                                                            const TuningOptions& options, uint64_t seed,
                                                            Slice slice = {});

  // Sets the roofline's lower bound for one execution, in seconds.
  // The least that its kernels do, and the seconds of that on this device: usual ones by the roofline, and a
  // lower bound.
  void SetWork(const Work& work, double roofline, double bound) {
    work_ = work;
    progress_.lower_bound = roofline;
    bound_ = bound;
  }
  const Work& work() const { return work_; }
  double bound() const { return bound_; }  // 0: not known

  const TuningTask& task() const { return task_; }
  ConfigSpace& space() { return *space_; }
  const TaskShape& shape() const { return shape_; }

  // Takes over records of this task, oldest first, as if they had just been tried: from other runs, and
  // from `run`, which is resumed. Records that no longer fit are ignored.
  void Transfer(std::span<const Record> records, const std::string& run);

  // The candidates to measure before anything is proposed: the baseline, the best one by the records, and
  // one that may be better but was not confirmed. Other candidates have to beat their newly measured times.
  std::vector<Candidate> First() const;
  // One more candidate to measure at first if there are no records. It is the fitting one of `others`, which
  // were fast for other tasks, that the model predicts to be the fastest, or the first one if there is no
  // model. If even the baseline does not count as a trial, it is at least the first proposal of the search.
  // So the network's time is known after one round, and shows how much each task matters.
  std::optional<Candidate> Guess(std::span<const Candidate> others, const CostModel* model);
  // Candidates that were fast for other tasks are tried early if they fit.
  void Hint(std::span<const Candidate> others);
  // The next candidates. Empty if the space is exhausted.
  std::vector<Candidate> Propose(int batch, const CostModel* model);

  // Whether the candidate is only measured for comparison and is not a trial: the baseline, before it was
  // measured, if analytic defaults do not count.
  bool IsReference(const Candidate& candidate) const;
  // Adds the result of a candidate that was timed, and its kernel.
  void Add(const Candidate& candidate, const Measurement& measurement, const Blob& kernel,
           const std::string& code_digest);
  void AddFailure(const Candidate& candidate);
  // Adds the time of a candidate that was measured again, and whether it is significantly faster than the
  // baseline. The digest of its code is empty if there is none.
  void Confirm(const Candidate& candidate, double seconds, bool is_faster, const std::string& code_digest);
  // Ends a batch of trials: reports it to the search strategy and the budget.
  void EndBatch();

  // The samples that the cost model learns from.
  TaskSamples Samples() { return features_->SamplesOf(observed_); }
  // The model's scores; empty if there is no model, or it is not trained.
  std::vector<float> Scores(std::span<const Candidate> candidates, const CostModel* model) {
    return features_->Scores(candidates, model);
  }

  // The kernel to interleave candidates with; nothing until the baseline is measured in this run.
  const std::optional<Baseline>& baseline() const { return baseline_; }
  const std::optional<Candidate>& best() const { return best_; }
  // The candidate that other tasks may try: the best, unless that is the baseline; otherwise the best by
  // the records.
  const Candidate* found() const;
  double best_seconds() const { return best_seconds_; }
  // 0 if there is no baseline.
  double baseline_seconds() const { return baseline_.has_value() ? baseline_->seconds : 0; }
  // Candidates to confirm: those not passed to Confirm() yet that are faster than the baseline and than all
  // confirmed ones, fastest first, at most `most`; if there are none, the one that an earlier run has
  // confirmed.
  std::vector<Candidate> ToConfirm(size_t most) const;
  // The digests of the code of the baseline and of the best; nothing unless the best is confirmed and not
  // the baseline.
  struct Code {
    std::string baseline, best;
  };
  std::optional<Code> ConfirmedCode() const;
  const TaskProgress& progress() const { return progress_; }
  int64_t trials() const { return trials_; }
  bool is_patient(int64_t patience) const { return patience == 0 || since_gain_ < patience; }
  void GiveUp() { progress_.is_exhausted = true; }

  TaskSummary Summary() const;

 private:
  explicit TaskTuning(TuningTask task) : task_(std::move(task)) {}

  void KeepKnown(std::span<const KnownTime> times);
  // Instead, the best that any run has found, each compared with that run's baseline: the runs are the parts
  // of this job, and their devices may differ.
  void KeepFoundByParts(std::span<const Record> records);
  // The candidates of other tasks moved into this task's space, each once; those that do not fit are
  // dropped.
  std::vector<Candidate> Fitting(std::span<const Candidate> others);
  // The budget's knowledge of this run before it was killed: the best after each batch, relative to the
  // baseline. Batches are told apart by their size, and by the numbers of trials, which other tasks have had
  // between.
  void KeepHistory(std::span<const Record> records, const std::string& run);
  void Resume();

  TuningTask task_;
  TaskShape shape_;
  std::unique_ptr<ConfigSpace> space_;
  Slice slice_;
  std::unique_ptr<SlicedSpace> sliced_;  // of space_, for the search strategy
  bool combines_ = false;                // the records are those of its parts
  std::unique_ptr<CandidateFeatures> features_;
  std::unique_ptr<SearchStrategy> search_;
  TaskProgress progress_;
  Work work_;
  double bound_ = 0;
  std::vector<Trial> observed_, unobserved_;   // by the search strategy
  std::vector<Candidate> known_;               // the best of the records, and maybe a better one
  std::optional<Candidate> confirmed_before_;  // the best of the records, if a run has confirmed it
  // Times of this run from before it was killed, relative to the baseline's, until that is measured again.
  std::unordered_map<Candidate, double, CandidateHash> resumed_;
  std::vector<double> resumed_best_;  // likewise, the best after each batch
  int64_t resumed_since_gain_ = 0;
  bool is_resuming_ = false;                                    // this batch measures the baseline again
  int batch_ = 1;                                               // TuningOptions::batch
  std::unordered_map<Candidate, double, CandidateHash> times_;  // of this run
  std::optional<Candidate> best_;                               // of this run
  std::optional<Baseline> baseline_;
  double best_seconds_ = 0;
  struct Confirmation {
    bool is_faster = false;  // than the baseline
    std::string code_digest;
  };
  std::unordered_map<Candidate, Confirmation, CandidateHash> confirmed_;
  int64_t trials_ = 0, failed_ = 0, transferred_ = 0, since_gain_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TASK_TUNING_H_

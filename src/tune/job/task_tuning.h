// One task while it is tuned: what may be tried, what was, and the best of it.
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
#include "tune/task/space.h"

namespace attune {

// The kernel that all candidates of a task are compared with: that of the default config.
struct Baseline {
  Blob kernel;
  std::string code_digest;
  double seconds = 0;  // in this run, > 0
};

// Not thread safe.
class TaskTuning {
 public:
  static absl::StatusOr<std::unique_ptr<TaskTuning>> Create(TuningTask task, const Target& target,
                                                            const TuningOptions& options, uint64_t seed);

  // What the roofline says that one execution takes at the least, in seconds.
  void SetBound(double seconds) { progress_.lower_bound = seconds; }

  const TuningTask& task() const { return task_; }
  ConfigSpace& space() { return *space_; }
  const TaskShape& shape() const { return shape_; }

  // Records of this task, the oldest first, that count as if they had just been tried: of other runs, and of
  // `run`, which goes on. Those that do not fit any more do not.
  void Transfer(std::span<const Record> records, const std::string& run);

  // What is measured before anything is proposed: the default, what the records say is best, and what may be
  // better but was not confirmed. What others have to beat is the times of now.
  std::vector<Candidate> First() const;
  // What is measured beside that where there is no record: of `others`, which were fast for other tasks and
  // fit, the one that the model thinks best, or the first if it knows nothing; where even the default does
  // not count, at least what the search begins with. So the network's time is known after one round, and
  // tells what each task is worth.
  std::optional<Candidate> Guess(std::span<const Candidate> others, const CostModel* model);
  // What was fast for other tasks is tried early where it fits.
  void Hint(std::span<const Candidate> others);
  // The next candidates. Empty: the space is exhausted.
  std::vector<Candidate> Propose(int batch, const CostModel* model);

  // Whether it only says what others are compared with, and is no trial: the default, before it was measured,
  // where defaults do not count.
  bool IsReference(const Candidate& candidate) const;
  // What came of a candidate that was timed, and its kernel.
  void Add(const Candidate& candidate, const Measurement& measurement, const Blob& kernel,
           const std::string& code_digest);
  void AddFailure(const Candidate& candidate);
  // The time of a candidate that was measured again, and whether it is significantly faster than the
  // default.
  // The digest of its code is empty where there is none.
  void Confirm(const Candidate& candidate, double seconds, bool is_faster, const std::string& code_digest);
  // After a batch of trials: tells the search strategy and the budget.
  void EndBatch();

  // What the cost model learns from.
  TaskSamples Samples() { return features_->SamplesOf(observed_); }
  // The model's; empty where there is none, or it is not trained.
  std::vector<float> Scores(std::span<const Candidate> candidates, const CostModel* model) {
    return features_->Scores(candidates, model);
  }

  // What candidates are interleaved with; nothing while the default was not measured in this run.
  const std::optional<Baseline>& baseline() const { return baseline_; }
  const std::optional<Candidate>& best() const { return best_; }
  // What other tasks may try: the best, unless that is the default; else what records say.
  const Candidate* found() const;
  double best_seconds() const { return best_seconds_; }
  // 0 while there is no baseline.
  double baseline_seconds() const { return baseline_.has_value() ? baseline_->seconds : 0; }
  // Those that Confirm() has not heard of and that are faster than the default and than all that Confirm()
  // has, the fastest first, at most so many; without any, what an earlier run has confirmed.
  std::vector<Candidate> ToConfirm(size_t most) const;
  // The digests of the baseline's code and of the best's; nothing unless the best is confirmed, and another.
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
  // Those of other tasks that fit, as they are here; each once.
  std::vector<Candidate> Fitting(std::span<const Candidate> others);
  void Resume();

  TuningTask task_;
  TaskShape shape_;
  std::unique_ptr<ConfigSpace> space_;
  std::unique_ptr<CandidateFeatures> features_;
  std::unique_ptr<SearchStrategy> search_;
  TaskProgress progress_;
  std::vector<Trial> observed_, unobserved_;   // by the search strategy
  std::vector<Candidate> known_;               // the best of the records, and maybe a better one
  std::optional<Candidate> confirmed_before_;  // the best of the records, if a run has confirmed it
  // Times of this run before it was killed, as shares of the default's, until that is measured again.
  std::unordered_map<Candidate, double, CandidateHash> resumed_;
  std::unordered_map<Candidate, double, CandidateHash> times_;  // of this run
  std::optional<Candidate> best_;                               // of this run
  std::optional<Baseline> baseline_;
  double best_seconds_ = 0;
  struct Confirmation {
    bool is_faster = false;  // than the default
    std::string code_digest;
  };
  std::unordered_map<Candidate, Confirmation, CandidateHash> confirmed_;
  int64_t trials_ = 0, failed_ = 0, transferred_ = 0, since_gain_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TASK_TUNING_H_

// One task while it is tuned: what may be tried, what was, and the best of it.
#ifndef ATTUNE_TUNE_TASK_TUNING_H_
#define ATTUNE_TUNE_TASK_TUNING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "tune/budget.h"
#include "tune/builder.h"
#include "tune/cost_model.h"
#include "tune/measurer.h"
#include "tune/options.h"
#include "tune/record.h"
#include "tune/report.h"
#include "tune/search.h"
#include "tune/space.h"

namespace attune {

// Not thread safe.
class TaskTuning {
 public:
  // `bound_seconds`: the roofline's time of one execution.
  static absl::StatusOr<std::unique_ptr<TaskTuning>> Create(TuningTask task, const Target& target,
                                                            const TuningOptions& options, uint64_t seed,
                                                            double bound_seconds);

  const TuningTask& task() const { return task_; }
  ConfigSpace& space() { return *space_; }

  // Records of this task from earlier runs count as trials. Those that do not fit any more do not.
  void Transfer(std::span<const Record> records);

  // The next candidates, which are counted as trials from now on. Empty: the space is exhausted.
  std::vector<Candidate> Propose(int batch, const CostModel* model);

  // What came of a candidate. `kernel` is kept where it is the fastest so far.
  void Add(const Candidate& candidate, const Measurement& measurement, BuiltKernel kernel);
  void AddFailure(const Candidate& candidate);
  // After a batch of trials: tells the search strategy and the budget.
  void EndBatch();

  // What the cost model learns from.
  TaskSamples Samples();
  std::vector<float> Scores(std::span<const Candidate> candidates, const CostModel& model);

  // The fastest so far with its kernel, where it was measured in this run.
  std::optional<Incumbent> incumbent() const;
  const std::optional<Candidate>& best() const { return best_; }
  double best_seconds() const { return best_seconds_; }
  const TaskProgress& progress() const { return progress_; }
  int64_t trials() const { return trials_; }
  bool is_patient(int64_t patience) const { return patience == 0 || since_gain_ < patience; }
  void GiveUp() { progress_.is_exhausted = true; }
  // The task stays with its default.
  void KeepDefault();

  TaskSummary Summary() const;

 private:
  TaskTuning(TuningTask task, int threads) : task_(std::move(task)), threads_(threads) {}

  const FeatureVector* FeaturesOf(const Candidate& candidate);

  TuningTask task_;
  int threads_;
  std::unique_ptr<ConfigSpace> space_;
  std::unique_ptr<SearchStrategy> search_;
  TaskProgress progress_;
  std::vector<Trial> observed_, unobserved_;                              // by the search strategy
  std::unordered_map<Candidate, FeatureVector, CandidateHash> features_;  // empty: it has none
  std::optional<Candidate> best_;
  double best_seconds_ = 0, default_seconds_ = 0;
  std::optional<BuiltKernel> best_kernel_;
  double kernel_seconds_ = 0;  // of best_kernel_, when it was measured
  int64_t trials_ = 0, failed_ = 0, transferred_ = 0, since_gain_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_TUNING_H_

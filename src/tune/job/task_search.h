// The search for one task: what is proposed, and what was observed.
#ifndef ATTUNE_TUNE_JOB_TASK_SEARCH_H_
#define ATTUNE_TUNE_JOB_TASK_SEARCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tune/cost_model/candidate_features.h"
#include "tune/cost_model/cost_model.h"
#include "tune/job/options.h"
#include "tune/search/search.h"
#include "tune/task/sliced_space.h"
#include "tune/task/space.h"

namespace attune {

// Not thread safe. A cost model may be null or not trained.
class TaskSearch {
 public:
  // Proposes candidates of this slice alone.
  static absl::StatusOr<std::unique_ptr<TaskSearch>> Create(TuningTask task, const Target& target,
                                                            const TuningOptions& options, uint64_t seed,
                                                            Slice slice);

  const TuningTask& task() const { return *task_; }
  ConfigSpace& space() { return space_; }
  const ConfigSpace& space() const { return space_; }

  // Candidates that were fast for other tasks are tried early if they fit.
  void Hint(std::span<const Candidate> others) { search_->Hint(Fitting(others)); }
  // The one of `others` that fits and that the model predicts to be the fastest, or the first one that fits
  // if there is no model. Neither the baseline nor a candidate of another slice.
  std::optional<Candidate> BestOf(std::span<const Candidate> others, const CostModel* model);
  // The next candidates. Empty if the space is exhausted.
  std::vector<Candidate> Propose(int batch, const CostModel* model);

  // Reports the trials of earlier runs.
  void Observe(std::span<const Trial> trials);
  // Adds a trial to the current batch.
  void Add(Trial trial) { batch_.push_back(std::move(trial)); }
  // Reports the current batch to the search strategy; returns the number of its trials.
  size_t EndBatch();

  // The samples that the cost model learns from.
  TaskSamples Samples() { return features_.SamplesOf(observed_); }
  // The model's scores; empty if there is no model, or it is not trained.
  std::vector<float> Scores(std::span<const Candidate> candidates, const CostModel* model) {
    return features_.Scores(candidates, model);
  }

 private:
  TaskSearch(std::unique_ptr<const TuningTask> task, ConfigSpace space, const TuningOptions& options,
             Slice slice, std::unique_ptr<SearchStrategy> search);

  // The candidates of other tasks moved into this task's space, each once; those that do not fit are
  // dropped.
  std::vector<Candidate> Fitting(std::span<const Candidate> others);

  std::unique_ptr<const TuningTask> task_;
  ConfigSpace space_;
  Slice slice_;
  SlicedSpace sliced_;  // of space_, for the search strategy
  CandidateFeatures features_;
  std::unique_ptr<SearchStrategy> search_;
  std::vector<Trial> observed_, batch_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TASK_SEARCH_H_

// Computes the features of one task's candidates, each once.
#ifndef ATTUNE_TUNE_COST_MODEL_CANDIDATE_FEATURES_H_
#define ATTUNE_TUNE_COST_MODEL_CANDIDATE_FEATURES_H_

#include <span>
#include <unordered_map>
#include <vector>

#include "tune/cost_model/cost_model.h"
#include "tune/cost_model/features.h"
#include "tune/task/candidate_space.h"
#include "tune/task/space.h"

namespace attune {

// Not thread safe; uses several threads itself.
class CandidateFeatures {
 public:
  // For kernels on `threads` threads; features are computed on up to `processors` threads. `space` must
  // outlive it.
  CandidateFeatures(ConfigSpace& space, int threads, int processors)
      : space_(space), threads_(threads), processors_(processors) {}

  // The samples that a cost model learns from trials of this task.
  TaskSamples SamplesOf(std::span<const Trial> trials);
  // The scores that a model predicts for candidates, -∞ for those that cannot be lowered; empty if the
  // model is null or not trained.
  std::vector<float> Scores(std::span<const Candidate> candidates, const CostModel* model);
  // Forgets all other candidates: the features of everything ever scored would take gigabytes.
  void KeepOnly(std::span<const Trial> trials);

 private:
  // Computes the features of candidates that are not known yet.
  void Add(std::span<const Candidate> candidates);

  ConfigSpace& space_;
  int threads_, processors_;
  std::unordered_map<Candidate, FeatureVector, CandidateHash> features_;  // empty: cannot be lowered
};

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_CANDIDATE_FEATURES_H_

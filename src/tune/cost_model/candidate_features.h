// The features of one task's candidates, each computed once.
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

// Not thread safe; computes on several threads itself.
class CandidateFeatures {
 public:
  // Of kernels on `threads` threads, computed by as many as `processors`. `space` outlives it.
  CandidateFeatures(ConfigSpace& space, int threads, int processors)
      : space_(space), threads_(threads), processors_(processors) {}

  // What a cost model learns from trials of this task.
  TaskSamples SamplesOf(std::span<const Trial> trials);
  // What a model predicts of candidates, -∞ for those that cannot be lowered; empty where the model is null
  // or not trained.
  std::vector<float> Scores(std::span<const Candidate> candidates, const CostModel* model);
  // Forgets all others: of everything that was ever scored, there would be gigabytes.
  void KeepOnly(std::span<const Trial> trials);

 private:
  // Of those of which nothing is known.
  void Add(std::span<const Candidate> candidates);

  ConfigSpace& space_;
  int threads_, processors_;
  std::unordered_map<Candidate, FeatureVector, CandidateHash> features_;  // empty: it has none
};

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_CANDIDATE_FEATURES_H_

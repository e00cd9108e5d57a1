// Cost models: predict which of several candidates is faster, learned from measurements.
#ifndef ATTUNE_TUNE_COST_MODEL_COST_MODEL_H_
#define ATTUNE_TUNE_COST_MODEL_COST_MODEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tune/cost_model/features.h"
#include "tune/cost_model/tree_ensemble.h"

namespace attune {

// Measurements of one task on one device with one number of threads, so that they are comparable.
struct TaskSamples {
  std::vector<FeatureVector> features;
  // The speed of each candidate relative to the fastest of the task: the fastest time divided by this
  // one's, in (0, 1], or 0 for a candidate that failed.
  std::vector<float> throughput;
};

// Thread safe.
class CostModel {
 public:
  virtual ~CostModel() = default;

  // Learns from exactly these measurements, and forgets those of earlier updates, but not the base that it
  // was created with. Meanwhile, other threads predict with the old state. After an error the model is
  // unchanged. Fails if lists differ in length, a vector has the wrong length, a number is not finite, or
  // there is nothing to learn: no task has two different throughputs.
  virtual absl::Status Update(std::span<const TaskSamples> tasks) = 0;

  virtual bool is_trained() const = 0;

  // A score for each candidate: of two candidates for one task, the one with the higher score is predicted
  // to be faster. Scores of different tasks, or from before and after an update, are not comparable. Fails
  // if the model is not trained or a vector has the wrong length.
  virtual absl::StatusOr<std::vector<float>> Predict(std::span<const FeatureVector> candidates) const = 0;

  // The trained model, with everything that it predicts with, as text. Fails if it is not trained.
  virtual absl::StatusOr<std::string> Serialize() const = 0;

 protected:
  CostModel() = default;
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;
};

struct BoostedTreesOptions {
  // The length of feature vectors, and the version of their meaning.
  int num_features = static_cast<int>(FeatureNames().size());
  int feature_version = kFeatureVersion;
  int rounds = 80;  // trees that each update learns
  int depth = 4;    // of each
  double learning_rate = 0.15;
  uint32_t seed = 0;
  // A model to start from, for the same number and version of features (otherwise the program ends); null:
  // none. With a base, the model is trained from the start and predicts the base's scores. An update learns
  // the errors of the base: its trees are added after the base's, and scores are the sums of both.
  std::shared_ptr<const TreeEnsemble> base = nullptr;
};

// Gradient-boosted trees (Chen and Guestrin, XGBoost, KDD 2016) that learn the order of each task's
// candidates from pairs of them (Burges, From RankNet to LambdaRank to LambdaMART, 2010). The same base and
// the same measurements in the same order give the same model. docs/decisions/cost-model.md explains this
// choice.
std::unique_ptr<CostModel> MakeBoostedTrees(const BoostedTreesOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_COST_MODEL_H_

// Cost models: which of several candidates is likely the faster one, learned from measurements.
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

// Measurements of one task on one device with so many threads: candidates that can be compared.
struct TaskSamples {
  std::vector<FeatureVector> features;
  // For each of these how fast it is in relation to the fastest of the task: its time over this one's, in
  // (0, 1], or 0 for a candidate that failed.
  std::vector<float> throughput;
};

// Any number of threads may use one.
class CostModel {
 public:
  virtual ~CostModel() = default;

  // Learns from all of these measurements, and forgets what it was told before, though not what it was made
  // with. While it does, others predict with what was known. After an error the model is what it was. Fails
  // where a list is shorter than another, a vector has another length than the model takes, a number is not
  // finite, or there is nothing to learn from: no task with two different throughputs.
  virtual absl::Status Update(std::span<const TaskSamples> tasks) = 0;

  virtual bool is_trained() const = 0;

  // A score for each candidate: of two of one task the higher is predicted to be the faster. Scores of
  // different tasks, or from before and after an update, do not compare. Fails where it is not trained or a
  // vector has another length.
  virtual absl::StatusOr<std::vector<float>> Predict(std::span<const FeatureVector> candidates) const = 0;

  // The trained model, all that it predicts with, as a text. Fails where it is not trained.
  virtual absl::StatusOr<std::string> Serialize() const = 0;

 protected:
  CostModel() = default;
  CostModel(const CostModel&) = delete;
  CostModel& operator=(const CostModel&) = delete;
};

struct BoostedTreesOptions {
  // The length of feature vectors, and the version of what they mean.
  int num_features = static_cast<int>(FeatureNames().size());
  int feature_version = kFeatureVersion;
  int rounds = 80;  // trees that an update learns
  int depth = 4;    // of each
  double learning_rate = 0.15;
  uint32_t seed = 0;
  // What is known before any measurement, of as many features of the same version (else the program ends);
  // null: nothing. With a base the model is trained from the start and predicts what the base says. An update
  // learns what the base gets wrong: its trees follow the base's, and scores are the sums of both.
  std::shared_ptr<const TreeEnsemble> base = nullptr;
};

// Gradient-boosted trees (Chen and Guestrin, XGBoost, KDD 2016) that learn the order of each task's
// candidates from pairs of them (Burges, From RankNet to LambdaRank to LambdaMART, 2010). The same base and
// the same measurements in the same order give the same model. docs/decisions/cost-model.md has what it was
// chosen by.
std::unique_ptr<CostModel> MakeBoostedTrees(const BoostedTreesOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_TUNE_COST_MODEL_COST_MODEL_H_

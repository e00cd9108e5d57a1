#include "tune/cost_model/candidate_features.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/parallel.h"

namespace attune {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

void CandidateFeatures::Add(std::span<const Candidate> candidates) {
  struct Missing {
    const Candidate* candidate;
    FeatureVector* features;
    std::optional<LoopNest> nest;
  };
  std::vector<Missing> missing;
  for (const Candidate& candidate : candidates) {
    const auto [it, is_new] = features_.try_emplace(candidate);
    if (is_new) missing.push_back({&candidate, &it->second, space_.TakeLowered(candidate)});
  }
  const auto extract = [&](int64_t i) {
    Missing& one = missing[static_cast<size_t>(i)];
    if (!one.nest.has_value()) {
      absl::StatusOr<LoopNest> nest = space_.Lower(*one.candidate);
      if (!nest.ok()) return;
      one.nest = *std::move(nest);
    }
    *one.features = ExtractFeatures(*one.nest, space_.target(), threads_);
    one.nest.reset();
  };
  ParallelFor(std::ssize(missing), extract, processors_);
}

TaskSamples CandidateFeatures::SamplesOf(std::span<const Trial> trials) {
  double fastest = kNever;
  std::vector<Candidate> unknown;
  for (const Trial& trial : trials) {
    if (trial.ok) fastest = std::min(fastest, trial.seconds);
    if (!features_.contains(trial.candidate)) unknown.push_back(trial.candidate);
  }
  Add(unknown);
  TaskSamples samples;
  for (const Trial& trial : trials) {
    const FeatureVector& features = features_.at(trial.candidate);
    if (features.empty()) continue;
    samples.features.push_back(features);
    samples.throughput.push_back(trial.ok ? static_cast<float>(fastest / trial.seconds) : 0);
  }
  return samples;
}

std::vector<float> CandidateFeatures::Scores(std::span<const Candidate> candidates, const CostModel* model) {
  if (model == nullptr || !model->is_trained()) return {};
  Add(candidates);
  std::vector<float> scores(candidates.size(), -std::numeric_limits<float>::infinity());
  std::vector<FeatureVector> features;
  std::vector<size_t> places;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const FeatureVector& own = features_.at(candidates[i]);
    if (own.empty()) continue;
    features.push_back(own);
    places.push_back(i);
  }
  const absl::StatusOr<std::vector<float>> predicted = model->Predict(features);
  for (size_t i = 0; predicted.ok() && i < places.size(); ++i) scores[places[i]] = (*predicted)[i];
  return scores;
}

void CandidateFeatures::KeepOnly(std::span<const Trial> trials) {
  std::unordered_map<Candidate, FeatureVector, CandidateHash> kept;
  for (const Trial& trial : trials) {
    if (auto node = features_.extract(trial.candidate)) kept.insert(std::move(node));
  }
  features_ = std::move(kept);
}

}  // namespace attune

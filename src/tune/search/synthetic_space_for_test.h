// For tests: a space of candidates whose times come from a formula, with a known optimum.
#ifndef ATTUNE_TUNE_SEARCH_SYNTHETIC_SPACE_FOR_TEST_H_
#define ATTUNE_TUNE_SEARCH_SYNTHETIC_SPACE_FOR_TEST_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/cost_model/features.h"
#include "tune/task/candidate_space.h"

namespace attune {

// A strategy with knobs "k0", "k1", …, which take the values 0 to sizes[i] - 1.
struct SyntheticStrategy {
  std::string name;
  std::vector<int64_t> sizes;
  std::vector<int64_t> optimum;
  double seconds = 1;  // of the optimum
};

class SyntheticSpace : public CandidateSpace {
 public:
  explicit SyntheticSpace(std::vector<SyntheticStrategy> strategies) : strategies_(std::move(strategies)) {}

  // Increases smoothly with the distance from the optimum, plus a penalty if the first two knobs' distances
  // differ.
  double Seconds(const Candidate& candidate) const {
    const SyntheticStrategy& s = Find(candidate.strategy);
    double sum = 1;
    std::vector<double> distance;
    for (size_t i = 0; i < s.sizes.size(); ++i) {
      const double d =
          static_cast<double>(Value(candidate, i) - s.optimum[i]) / static_cast<double>(s.sizes[i]);
      distance.push_back(d);
      sum += 4 * d * d;
    }
    if (distance.size() > 1) sum += 3 * std::abs(distance[0] - distance[1]);
    return s.seconds * sum;
  }

  FeatureVector Features(const Candidate& candidate) const {
    FeatureVector features;
    for (const SyntheticStrategy& s : strategies_) features.push_back(s.name == candidate.strategy ? 1 : 0);
    for (size_t i = 0; i < 6; ++i) features.push_back(static_cast<float>(Value(candidate, i)));
    return features;
  }
  int num_features() const { return static_cast<int>(strategies_.size()) + 6; }

  double best_seconds() const {
    double best = strategies_[0].seconds;
    for (const SyntheticStrategy& s : strategies_) best = std::min(best, s.seconds);
    return best;
  }
  int64_t num_valid() {
    int64_t count = 0;
    for (int64_t i = 0; i < size(); ++i) count += IsValid(At(i)) ? 1 : 0;
    return count;
  }

  int64_t size() const override {
    int64_t sum = 0;
    for (const SyntheticStrategy& s : strategies_) sum += SizeOf(s);
    return sum;
  }

  Candidate At(int64_t index) const override {
    for (const SyntheticStrategy& s : strategies_) {
      if (index >= SizeOf(s)) {
        index -= SizeOf(s);
        continue;
      }
      Candidate candidate{s.name, {}};
      for (size_t i = 0; i < s.sizes.size(); ++i) {
        candidate.config[Knob(i)] = index % s.sizes[i];
        index /= s.sizes[i];
      }
      return candidate;
    }
    return {};
  }

  std::vector<Candidate> Defaults() const override {
    std::vector<Candidate> defaults;
    for (const SyntheticStrategy& s : strategies_) {
      Candidate& candidate = defaults.emplace_back(Candidate{s.name, {}});
      for (size_t i = 0; i < s.sizes.size(); ++i) candidate.config[Knob(i)] = 0;
    }
    return defaults;
  }

  bool Contains(const Candidate& candidate) const override {
    for (const SyntheticStrategy& s : strategies_) {
      if (s.name != candidate.strategy || candidate.config.size() != s.sizes.size()) continue;
      bool contains = true;
      for (size_t i = 0; i < s.sizes.size(); ++i) {
        const int64_t value = Value(candidate, i);
        contains &= candidate.config.contains(Knob(i)) && value >= 0 && value < s.sizes[i];
      }
      return contains;
    }
    return false;
  }

  // One in seven candidates is invalid: those whose weighted sum of values has a certain remainder modulo
  // 7. All defaults are valid.
  bool IsValid(const Candidate& candidate) override {
    if (!Contains(candidate)) return false;
    int64_t sum = 0, weight = 1;
    for (const auto& [name, value] : candidate.config) sum += weight++ * value;
    const SyntheticStrategy& s = Find(candidate.strategy);
    int64_t at_optimum = 0;
    for (size_t i = 0; i < s.optimum.size(); ++i) at_optimum += static_cast<int64_t>(i + 1) * s.optimum[i];
    const int64_t forbidden = at_optimum % 7 == 3 ? 5 : 3;
    return sum % 7 != forbidden;
  }

  std::optional<Candidate> Sample(Random& random) override {
    for (int attempt = 0; attempt < 100; ++attempt) {
      const SyntheticStrategy& s = strategies_[Index(random, strategies_.size())];
      Candidate candidate{s.name, {}};
      for (size_t i = 0; i < s.sizes.size(); ++i)
        candidate.config[Knob(i)] = random.Integer(0, s.sizes[i] - 1);
      if (IsValid(candidate)) return candidate;
    }
    return std::nullopt;
  }

  std::vector<std::optional<Candidate>> Neighbours(std::span<const Candidate> candidates,
                                                   Random& random) override {
    std::vector<std::optional<Candidate>> neighbours;
    for (const Candidate& candidate : candidates) neighbours.push_back(NeighbourOf(candidate, random));
    return neighbours;
  }

 private:
  std::optional<Candidate> NeighbourOf(const Candidate& candidate, Random& random) {
    const SyntheticStrategy& s = Find(candidate.strategy);
    for (int attempt = 0; attempt < 100; ++attempt) {
      Candidate neighbour = candidate;
      const size_t i = Index(random, s.sizes.size());
      int64_t& value = neighbour.config[Knob(i)];
      value = random.Uniform() < 0.1 ? random.Integer(0, s.sizes[i] - 1)
                                     : value + (random.Uniform() < 0.5 ? -1 : 1);
      if (neighbour != candidate && IsValid(neighbour)) return neighbour;
    }
    return std::nullopt;
  }

  static std::string Knob(size_t i) { return std::string("k") + static_cast<char>('0' + i); }
  static int64_t Value(const Candidate& candidate, size_t i) {
    const auto found = candidate.config.find(Knob(i));
    return found == candidate.config.end() ? 0 : found->second;
  }
  static size_t Index(Random& random, size_t size) {
    return static_cast<size_t>(random.Integer(0, static_cast<int64_t>(size) - 1));
  }
  static int64_t SizeOf(const SyntheticStrategy& s) {
    int64_t product = 1;
    for (int64_t size : s.sizes) product *= size;
    return product;
  }
  const SyntheticStrategy& Find(const std::string& name) const {
    return *std::ranges::find(strategies_, name, &SyntheticStrategy::name);
  }

  std::vector<SyntheticStrategy> strategies_;
};

// Two strategies with 14,400 and 2,000 candidates; the optimum belongs to the one with the slower default.
inline SyntheticSpace MediumSpace() {
  return SyntheticSpace(
      {{"tiles", {12, 10, 8, 15}, {8, 7, 2, 11}, 1.0}, {"rows", {20, 10, 10}, {3, 2, 8}, 1.5}});
}

// 27 candidates, including invalid ones.
inline SyntheticSpace SmallSpace() {
  return SyntheticSpace({{"tiles", {5, 4}, {3, 2}, 1.0}, {"rows", {7}, {5}, 2.0}});
}

}  // namespace attune

#endif  // ATTUNE_TUNE_SEARCH_SYNTHETIC_SPACE_FOR_TEST_H_

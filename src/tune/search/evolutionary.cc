// Evolutionary search over recorded schedules, guided by the cost model.
//
// Problem: good candidates are rare, and the recorded ones are the best place to start from. Idea: a
// population of the fastest measured candidates, recorded candidates for similar tasks and random ones
// evolves for some generations using only the model's scores: parents are chosen by score, most children
// are a parent with one number changed, the others a cross of two parents. The best candidates of all
// generations are measured. After Zheng et al., Ansor, OSDI 2020, section 5.1. Without a model, a candidate
// that is not measured has the fitness of the slowest measured one. Cost: kPopulation scores in each of
// kGenerations.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tune/search/search_base.h"

namespace attune {
namespace {

constexpr size_t kPopulation = 192;
constexpr int kGenerations = 5;
constexpr double kCrossover = 0.2;
constexpr size_t kMeasuredParents = 64;

class Evolutionary : public SearchBase {
 public:
  using SearchBase::SearchBase;

 protected:
  void Extend(const SearchState& state) override {
    AddDefaultsAndHints();
    if (measured().empty() && state.score == nullptr) return AddRandom(missing());
    const size_t at_random = RandomShare();
    const size_t by_fitness = missing() - at_random;
    const ScoreFunction by_time = [this](std::span<const Candidate> candidates) {
      return FitnessByTime(candidates);
    };
    if (by_fitness > 0) {
      RememberedScores scores(state.score == nullptr ? by_time : state.score);
      Breed(scores);
      AddBest(scores, by_fitness);
    }
    AddRandom(missing());
  }

 private:
  std::vector<float> FitnessByTime(std::span<const Candidate> candidates) const {
    std::vector<float> fitness;
    for (const Candidate& candidate : candidates) {
      const auto found = std::ranges::find(measured(), candidate, &Trial::candidate);
      const Trial& trial = found == measured().end() ? measured().back() : *found;
      fitness.push_back(static_cast<float>(measured().front().seconds / trial.seconds));
    }
    return fitness;
  }

  std::vector<Candidate> Founders() {
    std::vector<Candidate> founders;
    for (size_t i = 0; i < std::min(measured().size(), kMeasuredParents); ++i)
      founders.push_back(measured()[i].candidate);
    for (const Candidate& hint : hints()) {
      if (founders.size() < 2 * kMeasuredParents) founders.push_back(hint);
    }
    std::erase_if(founders, [&](const Candidate& c) { return !space().IsValid(c); });
    for (size_t attempts = kPopulation; attempts > 0 && founders.size() < kPopulation; --attempts) {
      if (std::optional<Candidate> candidate = space().Sample(random()))
        founders.push_back(*std::move(candidate));
    }
    return founders;
  }

  void Breed(RememberedScores& scores) {
    std::vector<Candidate> population = Founders();
    std::vector<float> values = scores(population);
    for (int generation = 0; generation < kGenerations && !population.empty(); ++generation) {
      const std::vector<double> weights = WeightsByRank(values);
      std::vector<Candidate> children;
      for (size_t i = 0; i < population.size(); ++i) {
        const Candidate& parent = population[Pick(weights)];
        if (std::optional<Candidate> child = Child(parent, population[Pick(weights)]))
          children.push_back(*std::move(child));
      }
      population = std::move(children);
      values = scores(population);
    }
  }

  std::optional<Candidate> Child(const Candidate& parent, const Candidate& other) {
    if (random().Uniform() < kCrossover && parent.strategy == other.strategy) {
      const std::array<const Candidate*, 2> parents = {&parent, &other};
      Candidate child = Cross(parents);
      if (space().IsValid(child)) return child;
    }
    return space().Neighbour(parent, random());
  }

  // The candidate with the best score has the largest weight, the last one almost none, independent of the
  // scores' scale.
  static std::vector<double> WeightsByRank(const std::vector<float>& values) {
    std::vector<size_t> order(values.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(
        order, [&](size_t a, size_t b) { return values[a] != values[b] ? values[a] > values[b] : a < b; });
    std::vector<double> weights(values.size());
    const double scale = std::max(static_cast<double>(values.size()) / 8, 1.0);
    for (size_t rank = 0; rank < order.size(); ++rank)
      weights[order[rank]] = std::exp(-static_cast<double>(rank) / scale);
    return weights;
  }

  void AddBest(const RememberedScores& scores, size_t count) {
    std::vector<std::pair<float, Candidate>> fresh;
    for (const auto& [candidate, score] : scores.all()) {
      if (std::isfinite(score) && IsFresh(candidate)) fresh.emplace_back(-score, candidate);
    }
    std::ranges::sort(fresh);
    for (size_t i = 0; i < std::min(count, fresh.size()); ++i) Add(fresh[i].second);
  }
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeEvolutionary(const SearchOptions& options) {
  return std::make_unique<Evolutionary>(options);
}

}  // namespace attune

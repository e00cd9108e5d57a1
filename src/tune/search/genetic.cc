// A genetic algorithm that uses only measured times.
//
// Problem: neighbours of a fast config need not be fast, but good values of single numbers are often good
// in combination with others. Idea: the fastest measured candidates are parents; each number of a child
// comes from one of three parents, chosen in proportion to fitness, and occasionally a number mutates. It
// starts with candidates that were fast for similar tasks, the strategies' defaults and random ones. After
// the autotuner of Vasilache et al., Tensor Comprehensions, 2018, section 6.
#include <algorithm>
#include <array>

#include "tune/search/search_base.h"

namespace attune {
namespace {

constexpr size_t kFounders = 24;
constexpr size_t kParents = 32;
constexpr double kMutation = 0.07;  // probability per number
constexpr int kAttempts = 20;       // per child

class Genetic : public SearchBase {
 public:
  using SearchBase::SearchBase;

 protected:
  void Extend(const SearchState&) override {
    AddDefaultsAndHints();
    if (measured().size() < kFounders) AddRandom(std::min(missing(), kFounders - measured().size()));
    if (!measured().empty()) {
      for (size_t attempts = missing() * kAttempts; attempts > 0 && !is_full(); --attempts) Add(Child());
    }
    AddRandom(missing());
  }

 private:
  Candidate Child() {
    std::vector<double> fitness;
    const size_t count = std::min(measured().size(), kParents);
    for (size_t i = 0; i < count; ++i) fitness.push_back(measured().front().seconds / measured()[i].seconds);
    std::array<const Candidate*, 3> parents;
    for (const Candidate*& parent : parents) parent = &measured()[Pick(fitness)].candidate;
    Candidate child = Cross(parents);
    for (size_t numbers = child.config.size(); numbers > 0; --numbers) {
      if (random().Uniform() >= kMutation || !space().IsValid(child)) continue;
      if (std::optional<Candidate> mutant = space().Neighbour(child, random())) child = *std::move(mutant);
    }
    return child;
  }
};

}  // namespace

std::unique_ptr<SearchStrategy> MakeGenetic(const SearchOptions& options) {
  return std::make_unique<Genetic>(options);
}

}  // namespace attune

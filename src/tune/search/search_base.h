// Shared parts of the search strategies: the memory of tried candidates, the batch under construction, and
// the factories. Each batch draws its own random numbers, by the seed and by how many candidates were tried.
#ifndef ATTUNE_TUNE_SEARCH_SEARCH_BASE_H_
#define ATTUNE_TUNE_SEARCH_SEARCH_BASE_H_

#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tune/search/search.h"

namespace attune {

class SearchBase : public SearchStrategy {
 public:
  explicit SearchBase(const SearchOptions& options) : options_(options), random_(options.seed) {}

  std::vector<Candidate> Propose(int batch, const SearchState& state) final;
  void Observe(std::span<const Trial> trials) final;
  void Hint(std::vector<Candidate> hints) final { hints_ = std::move(hints); }

 protected:
  using CandidateSet = std::unordered_set<Candidate, CandidateHash>;

  // Adds candidates to the batch until it is full or there are no more.
  virtual void Extend(const SearchState& state) = 0;

  // For use in Extend():

  CandidateSpace& space() { return *space_; }
  Random& random() { return random_; }
  const SearchOptions& options() const { return options_; }
  const std::vector<Candidate>& hints() const { return hints_; }
  // The successful trials, fastest first.
  const std::vector<Trial>& measured() const { return measured_; }

  bool is_full() const { return batch_.size() >= limit_; }
  size_t missing() const { return limit_ - batch_.size(); }
  // Whether the candidate is valid and was neither tried nor proposed.
  bool IsFresh(const Candidate& candidate);
  // Adds a candidate if it is fresh and there is room; returns whether it did.
  bool Add(const Candidate& candidate);

  // Adds the defaults of all strategies, then the best few hints.
  void AddDefaultsAndHints();
  // Adds random candidates, until `count` are added or no more are found. In a small space, all are found.
  void AddRandom(size_t count);
  // How many of the missing candidates should be random; the average over many batches is the share in
  // options().
  size_t RandomShare();

  // A candidate with the first parent's strategy: each number is chosen at random from the parents with
  // that strategy. It need not be valid.
  Candidate Cross(std::span<const Candidate* const> parents);
  // A random index; probabilities are proportional to the weights (>= 0, not all 0).
  size_t Pick(std::span<const double> weights);

 private:
  void AddByEnumeration(size_t count);

  const SearchOptions options_;
  Random random_;
  std::vector<Candidate> hints_;
  CandidateSet tried_;  // or proposed
  std::vector<Trial> measured_;
  // Only used while a batch is built:
  CandidateSpace* space_ = nullptr;
  std::vector<Candidate> batch_;
  size_t limit_ = 0;
};

// Caches scores, so that each is computed once. Only for one call of Propose(), since the model may change.
class RememberedScores {
 public:
  explicit RememberedScores(const ScoreFunction& score) : score_(score) {}

  // Returns -infinity for a score that is NaN.
  std::vector<float> operator()(std::span<const Candidate> candidates);
  const std::unordered_map<Candidate, float, CandidateHash>& all() const { return scores_; }

 private:
  const ScoreFunction& score_;
  std::unordered_map<Candidate, float, CandidateHash> scores_;
};

std::unique_ptr<SearchStrategy> MakeAnnealing(const SearchOptions& options);
std::unique_ptr<SearchStrategy> MakeGenetic(const SearchOptions& options);
std::unique_ptr<SearchStrategy> MakeEvolutionary(const SearchOptions& options);
std::unique_ptr<SearchStrategy> MakeGrid(const SearchOptions& options);
std::unique_ptr<SearchStrategy> MakeRandomSearch(const SearchOptions& options);

}  // namespace attune

#endif  // ATTUNE_TUNE_SEARCH_SEARCH_BASE_H_

// Search strategies: which candidates of a task are measured next.
//
// A strategy never proposes what has been tried, nor what is not valid. The same seed, observations and
// scores give the same proposals.
#ifndef ATTUNE_TUNE_SEARCH_SEARCH_H_
#define ATTUNE_TUNE_SEARCH_SEARCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/task/candidate_space.h"

namespace attune {

// The scores of candidates, one each: the higher, the faster it is predicted to be. Of one that has no
// features, -infinity.
using ScoreFunction = std::function<std::vector<float>(std::span<const Candidate>)>;

// What a strategy may use in one call, besides what it has observed.
struct SearchState {
  CandidateSpace* space = nullptr;  // the task's, the same in all calls
  ScoreFunction score = nullptr;    // null while no model is trained
};

struct SearchOptions {
  uint64_t seed = 0;
  // The share of proposals that are random, so that a model that errs is found out; in [0, 1].
  double epsilon = 0.1;
};

// For one task. Not thread safe.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;

  // At most `batch` (>= 0) valid candidates, each for the first time. The first of all is what is taken
  // untuned, where the space says it. Fewer than `batch` mean that no other was found, and none at all that
  // the space is exhausted; of a small one that is exact.
  virtual std::vector<Candidate> Propose(int batch, const SearchState& state) = 0;

  // What was fast for similar tasks, or for other versions of this one, the best first, instead of what was
  // said before. What is not valid here is ignored.
  virtual void Hint(std::vector<Candidate> hints) = 0;

  // Trials of proposals, or of earlier runs, in any order and number.
  virtual void Observe(std::span<const Trial> trials) = 0;

 protected:
  SearchStrategy() = default;
  SearchStrategy(const SearchStrategy&) = delete;
  SearchStrategy& operator=(const SearchStrategy&) = delete;
};

struct SearchStrategyInfo {
  std::string_view name;
  std::string_view summary;  // for people, a line
  bool uses_model;           // whether it asks for scores
  std::unique_ptr<SearchStrategy> (*create)(const SearchOptions& options);
};

// The default first.
std::span<const SearchStrategyInfo> AllSearchStrategies();
// Null where there is none of that name.
const SearchStrategyInfo* FindSearchStrategy(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_TUNE_SEARCH_SEARCH_H_

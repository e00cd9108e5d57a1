// Search strategies: they choose which candidates of a task are measured next.
//
// A strategy never proposes a candidate that was tried before or is not valid. The same seed, observations
// and scores give the same proposals.
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

// Scores candidates, one score each: a higher score predicts a faster candidate. A candidate without
// features has the score -infinity.
using ScoreFunction = std::function<std::vector<float>(std::span<const Candidate>)>;

// The inputs to one call of a strategy, besides its observations.
struct SearchState {
  CandidateSpace* space = nullptr;  // the task's, the same in all calls
  ScoreFunction score = nullptr;    // null until a model is trained
};

struct SearchOptions {
  uint64_t seed = 0;
  // The share of proposals that are random, so that errors of the model are discovered; in [0, 1].
  double epsilon = 0.1;
};

// Searches for one task. Not thread safe.
class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;

  // Returns at most `batch` (>= 0) valid candidates, none of which was proposed before. The very first
  // proposal is the baseline, if the space has one. Fewer than `batch` means that no other was found, and
  // none at all that the space is exhausted; for a small space this is exact.
  virtual std::vector<Candidate> Propose(int batch, const SearchState& state) = 0;

  // Sets candidates that were fast for similar tasks, or for other versions of this one, best first; they
  // replace earlier hints. Candidates that are not valid here are ignored.
  virtual void Hint(std::vector<Candidate> hints) = 0;

  // Reports trials of proposals or from earlier runs, in any order and number.
  virtual void Observe(std::span<const Trial> trials) = 0;

 protected:
  SearchStrategy() = default;
  SearchStrategy(const SearchStrategy&) = delete;
  SearchStrategy& operator=(const SearchStrategy&) = delete;
};

struct SearchStrategyInfo {
  std::string_view name;
  std::string_view summary;  // for people, one line
  bool uses_model;           // whether it uses scores
  std::unique_ptr<SearchStrategy> (*create)(const SearchOptions& options);
};

// The default strategy comes first.
std::span<const SearchStrategyInfo> AllSearchStrategies();
// Null if there is no strategy with that name.
const SearchStrategyInfo* FindSearchStrategy(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_TUNE_SEARCH_SEARCH_H_

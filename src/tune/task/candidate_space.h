// The candidates for a task, in the form that search strategies see: a set, with moves from one to another.
#ifndef ATTUNE_TUNE_TASK_CANDIDATE_SPACE_H_
#define ATTUNE_TUNE_TASK_CANDIDATE_SPACE_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "lower/strategy.h"

namespace attune {

// A strategy and its config.
struct Candidate {
  std::string strategy;
  Config config;
  auto operator<=>(const Candidate&) const = default;
};

// For std::unordered_map and the like.
struct CandidateHash {
  size_t operator()(const Candidate& candidate) const {
    size_t hash = std::hash<std::string>()(candidate.strategy);
    for (const auto& [name, value] : candidate.config) {
      hash = (hash ^ std::hash<std::string>()(name)) * 0x9E3779B97F4A7C15u;
      hash = (hash ^ static_cast<size_t>(value)) * 0x9E3779B97F4A7C15u;
    }
    return hash ^ hash >> 32;
  }
};

// The result of trying a candidate.
struct Trial {
  Candidate candidate;
  bool ok = false;     // built, ran, and gave the right result
  double seconds = 0;  // of one execution; > 0 if ok
};

// The candidates for one task. Not thread safe: an implementation may remember what it has checked.
class CandidateSpace {
 public:
  virtual ~CandidateSpace() = default;

  // The number of candidates, valid or not; at most INT64_MAX.
  virtual int64_t size() const = 0;
  // The candidate with this index, valid or not; 0 <= index < size().
  virtual Candidate At(int64_t index) const = 0;

  // The analytic default of each strategy that applies, beginning with the baseline. Empty if a search has
  // to do without them.
  virtual std::vector<Candidate> Defaults() const = 0;

  // Whether the candidate is in the space; candidates for other tasks or versions may not be.
  virtual bool Contains(const Candidate& candidate) const = 0;
  // Whether the space contains it and it breaks no constraint.
  virtual bool IsValid(const Candidate& candidate) = 0;

  // These return valid candidates, or nothing if some hundred attempts found none.
  //
  // Samples from the whole space.
  virtual std::optional<Candidate> Sample(Random& random) = 0;
  // For each candidate, which must be valid: a copy with one number changed to a neighbouring value or,
  // rarely, to any value.
  virtual std::vector<std::optional<Candidate>> Neighbours(std::span<const Candidate> candidates,
                                                           Random& random) = 0;
  std::optional<Candidate> Neighbour(const Candidate& candidate, Random& random) {
    return std::move(Neighbours({&candidate, 1}, random).front());
  }

 protected:
  CandidateSpace() = default;
  CandidateSpace(const CandidateSpace&) = default;
  CandidateSpace& operator=(const CandidateSpace&) = default;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_CANDIDATE_SPACE_H_

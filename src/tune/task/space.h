// The candidates of a task: the configs of all strategies that apply to it.
//
// Problem: knobs are numbers with lists of values, and most of their combinations are configs that cannot
// be scheduled, that spill registers, or that unroll to more code than any cache holds. Idea: check
// constraints on the schedule itself, before code is generated: a config that cannot be scheduled, needs
// more vector registers than there are, or unrolls beyond a bound is not a candidate. A check takes under a
// millisecond, and its result is remembered.
#ifndef ATTUNE_TUNE_TASK_SPACE_H_
#define ATTUNE_TUNE_TASK_SPACE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "tune/task/candidate_space.h"
#include "tune/task/task.h"

namespace attune {

// The knobs of one strategy, for one task.
struct StrategySpace {
  const Strategy* strategy = nullptr;
  std::vector<Knob> knobs;
  Config analytic_default;

  // The product of the lengths of the knobs' lists; at most INT64_MAX.
  int64_t size() const;
};

// Not thread safe: it remembers what it has checked.
class ConfigSpace final : public CandidateSpace {
 public:
  // `threads` is the most threads used to check many candidates at once.
  static absl::StatusOr<ConfigSpace> Create(const TuningTask& task, const Target& target, int threads = 1);
  ConfigSpace(ConfigSpace&&) = default;
  ConfigSpace& operator=(ConfigSpace&&) = default;

  const TuningTask& task() const { return *task_; }
  const Target& target() const { return target_; }
  const std::vector<StrategySpace>& strategies() const { return strategies_; }
  // The number of configs of all strategies, before constraints.
  int64_t size() const override;

  // The baseline: the compiler's choice without tuning.
  const Candidate& Default() const { return default_; }
  // The analytic default of each strategy that applies, beginning with Default(); none after
  // HideDefaults().
  std::vector<Candidate> Defaults() const override;
  void HideDefaults() { hides_defaults_ = true; }
  bool hides_defaults() const { return hides_defaults_; }

  // Whether each knob has one of its values. Records of other versions may not fit.
  bool Contains(const Candidate& candidate) const override;
  // Whether the space contains it and it breaks no constraint.
  bool IsValid(const Candidate& candidate) override;
  // Frees memory: checked candidates are forgotten if there are too many, their loop nests always.
  void Forget();
  // The loop nest of a valid candidate, to compute features from. May be called by several threads at the
  // same time.
  absl::StatusOr<LoopNest> Lower(const Candidate& candidate) const;
  // Like Lower(), once, for a candidate that was just found valid, without lowering it again. Nothing if
  // its loop nest was dropped.
  std::optional<LoopNest> TakeLowered(const Candidate& candidate);

  // The candidate in this space that is most similar to one of another task: the same strategy, and for
  // each knob the nearest value. Nothing if the strategy does not apply or the candidate is not valid.
  std::optional<Candidate> Nearest(const Candidate& other);

  // These return valid candidates, or nothing if some hundred attempts found none.
  //
  // Draws a strategy, with a probability proportional to the logarithm of its space's size, and a value for
  // each knob.
  std::optional<Candidate> Sample(Random& random) override;
  // For each candidate, a copy with one knob changed to a neighbouring or, rarely, to any value; uses
  // several threads.
  std::vector<std::optional<Candidate>> Neighbours(std::span<const Candidate> candidates,
                                                   Random& random) override;
  // The candidate with this index, valid or not; 0 <= index < size().
  Candidate At(int64_t index) const override;

  // For people: "conv_direct: tile_w 28 × tile_c 4 × unroll_c 4 = 448" and so on, one line per strategy.
  std::string ToString() const;

 private:
  ConfigSpace(const TuningTask& task, const Target& target, int threads)
      : task_(&task), target_(target), threads_(threads) {}

  const StrategySpace* Find(const std::string& strategy) const;
  std::optional<Candidate> Moved(const Candidate& candidate, Random& random) const;
  bool IsWithinBounds(const LoopNest& nest) const;
  // Checks those of the candidates that are in the space, and remembers which are valid.
  void Check(std::span<const Candidate> candidates);

  const TuningTask* task_;
  Target target_;
  int threads_;
  Workload workload_;  // of the task; has references into its region
  std::vector<StrategySpace> strategies_;
  bool hides_defaults_ = false;
  Candidate default_;
  std::map<Candidate, bool> valid_;
  // The loop nests of candidates that were just found valid: the caller that checked them needs their
  // features next.
  std::unordered_map<Candidate, LoopNest, CandidateHash> lowered_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_SPACE_H_

// The candidates of a task: the configs of all strategies that apply to it.
//
// Problem: knobs are numbers with lists of values, and most products of lists hold configs that cannot be
// scheduled, that spill registers or unroll to more code than any cache holds. Idea: constraints are checked
// on the schedule itself, before code is generated: what cannot be scheduled, what needs more vector
// registers than there are or unrolls beyond a bound is no candidate. That takes under a millisecond, and is
// remembered.
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

  // The product of the numbers of values; at most INT64_MAX.
  int64_t size() const;
};

// Not thread safe: it remembers what it has checked.
class ConfigSpace final : public CandidateSpace {
 public:
  // What is checked for many candidates at once is checked on at most so many threads.
  static absl::StatusOr<ConfigSpace> Create(const TuningTask& task, const Target& target, int threads = 1);
  ConfigSpace(ConfigSpace&&) = default;
  ConfigSpace& operator=(ConfigSpace&&) = default;

  const TuningTask& task() const { return *task_; }
  const Target& target() const { return target_; }
  const std::vector<StrategySpace>& strategies() const { return strategies_; }
  // Of all strategies, before constraints.
  int64_t size() const override;

  // What the compiler takes untuned.
  const Candidate& Default() const { return default_; }
  // The default of every strategy that applies, the first Default(); none after HideDefaults().
  std::vector<Candidate> Defaults() const override;
  void HideDefaults() { hides_defaults_ = true; }
  bool hides_defaults() const { return hides_defaults_; }

  // All knobs have one of their values. Records of other versions may not fit.
  bool Contains(const Candidate& candidate) const override;
  // Contains it, and no constraint is broken.
  bool IsValid(const Candidate& candidate) override;
  // Gives memory back: what was asked about is remembered, until it is too much.
  void Forget();
  // The loop nest that a valid candidate gives, for features. Several threads may call it at the same time.
  absl::StatusOr<LoopNest> Lower(const Candidate& candidate) const;
  // The same, once, of one that has just been found valid, without lowering it again; nothing: it is gone.
  std::optional<LoopNest> TakeLowered(const Candidate& candidate);

  // The candidate here that is most like one of another task: its strategy's, each number the nearest of its
  // knob's. Nothing where the strategy does not apply or that is not valid.
  std::optional<Candidate> Nearest(const Candidate& other);

  // These give valid candidates, or nothing where some hundred attempts found none.
  //
  // A strategy at random, in proportion to the logarithm of its space's size, and each of its knobs.
  std::optional<Candidate> Sample(Random& random) override;
  // Of each, one knob moved to a neighbouring or, seldom, to any value; on several threads.
  std::vector<std::optional<Candidate>> Neighbours(std::span<const Candidate> candidates,
                                                   Random& random) override;
  // The `index`-th candidate of all, valid or not; 0 <= index < size().
  Candidate At(int64_t index) const override;

  // For people: "conv_direct: tile_w 28 × tile_c 4 × unroll_c 4 = 448" and so on, a line a strategy.
  std::string ToString() const;

 private:
  ConfigSpace(const TuningTask& task, const Target& target, int threads)
      : task_(&task), target_(target), threads_(threads) {}

  const StrategySpace* Find(const std::string& strategy) const;
  std::optional<Candidate> Moved(const Candidate& candidate, Random& random) const;
  bool IsWithinBounds(const LoopNest& nest) const;
  // Of those that are in the space, remembers which are valid.
  void Check(std::span<const Candidate> candidates);

  const TuningTask* task_;
  Target target_;
  int threads_;
  Workload workload_;  // of the task; refers into its region
  std::vector<StrategySpace> strategies_;
  bool hides_defaults_ = false;
  Candidate default_;
  std::map<Candidate, bool> valid_;
  // Of the last that were found valid: whoever has asked whether they are wants their features next.
  std::unordered_map<Candidate, LoopNest, CandidateHash> lowered_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_SPACE_H_

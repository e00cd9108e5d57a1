// The candidates of a task: the configs of all strategies that apply to it.
//
// Problem: knobs are numbers with lists of values, and most products of lists hold configs that cannot be
// scheduled, that spill registers or unroll to more code than any cache holds. Idea: constraints are checked
// on the schedule itself, before code is generated: what cannot be scheduled, what needs more vector
// registers than there are or unrolls beyond a bound is no candidate. That takes under a millisecond, and is
// remembered.
#ifndef ATTUNE_TUNE_SPACE_H_
#define ATTUNE_TUNE_SPACE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "base/random.h"
#include "tune/candidate_space.h"
#include "tune/task.h"

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
  static absl::StatusOr<ConfigSpace> Create(const TuningTask& task, const Target& target);
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
  // The loop nest that a valid candidate gives, for features.
  absl::StatusOr<LoopNest> Lower(const Candidate& candidate);

  // The candidate here that is most like one of another task: its strategy's, each number the nearest of its
  // knob's. Nothing where the strategy does not apply or that is not valid.
  std::optional<Candidate> Nearest(const Candidate& other);

  // These give valid candidates, or nothing where some hundred attempts found none.
  //
  // A strategy at random, in proportion to the logarithm of its space's size, and each of its knobs.
  std::optional<Candidate> Sample(Random& random) override;
  // One knob of `candidate` moved to a neighbouring or, seldom, to any value.
  std::optional<Candidate> Neighbour(const Candidate& candidate, Random& random) override;
  // The `index`-th candidate of all, valid or not; 0 <= index < size().
  Candidate At(int64_t index) const override;

  // For people: "conv_direct: tile_w 28 × tile_c 4 × unroll_c 4 = 448" and so on, a line a strategy.
  std::string ToString() const;

 private:
  ConfigSpace(const TuningTask& task, const Target& target) : task_(&task), target_(target) {}

  const StrategySpace* Find(const std::string& strategy) const;
  absl::StatusOr<LoopNest> LowerNow(const Candidate& candidate) const;

  const TuningTask* task_;
  Target target_;
  Workload workload_;  // of the task; refers into its region
  std::vector<StrategySpace> strategies_;
  bool hides_defaults_ = false;
  Candidate default_;
  std::map<Candidate, bool> valid_;
  // Of the valid ones the last: whoever has asked whether they are wants their features next.
  std::unordered_map<Candidate, LoopNest, CandidateHash> lowered_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_SPACE_H_

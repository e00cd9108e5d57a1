// Strategies: ways to schedule a fused group, each with its configs.
//
// A strategy maps a config, a handful of named numbers, to a list of schedule primitives. It says to which
// groups it applies (and if not, why not), which configs there are, and which one the baseline has: its
// analytic default, a function of shapes and target that must be good enough to ship.
#ifndef ATTUNE_LOWER_STRATEGY_H_
#define ATTUNE_LOWER_STRATEGY_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "lower/definition.h"
#include "target/target.h"
#include "tensor/schedule.h"

namespace attune {

// A fused group, analyzed for strategies.
struct Workload {
  const Graph* region = nullptr;
  ComputeDef definition;
  // The contraction, window operator or reduction that dominates; null for elementwise groups and movement.
  const Node* anchor = nullptr;
  std::string anchor_stage;                     // its finishing stage: "conv0"
  std::string accumulator_stage;                // "conv0.acc"; empty where the anchor accumulates nothing
  std::vector<std::string> elementwise_stages;  // of elementwise nodes whose values stay inside the group
  std::string output_stage;                     // computes the (first) output
  int num_outputs = 1;
  int num_anchors = 0;            // contractions, windows, normalizations and the like
  const Value* result = nullptr;  // the value that output_stage computes

  const TensorType& output_type() const { return result->type(); }
  const Stage& FindStage(std::string_view name) const;
};

// `symbols`: see Definition.
absl::StatusOr<Workload> AnalyzeGroup(const Graph& region, const std::string& name,
                                      const std::vector<std::string>& symbols = {});

using Config = std::map<std::string, int64_t>;

// One number of a config and the values that it may take.
struct Knob {
  std::string name;
  std::vector<int64_t> values;
};

// Whether a config has a value of each knob, and nothing else.
bool IsConfigOf(const Config& config, const std::vector<Knob>& knobs);

// The regions of two groups, the second of which reads the result of the first, and the merged region of
// both. Layouts are assigned.
struct MergedGroups {
  const Graph& first;
  const Graph& second;
  const Graph& merged;
};

// A way of a strategy to compute two groups in one kernel.
struct GroupFusion {
  // Whether it may be worth trying, judged by the operators alone. The second group reads the result of the
  // first as its input `input`.
  bool (*may_join)(const Graph& first, const Graph& second, int input);
  // The predicted cycles of one core that the merged kernel saves over one kernel for each original group;
  // there are more than two of these if the first group was made by this fusion too. Fusing pays if this is
  // more than the first group saves by itself. `workload` is that of the merged region, and the strategy
  // applies to it.
  absl::StatusOr<double> (*savings)(const MergedGroups& groups, const Workload& workload, const Target&);
  // Changes the merged region before that; null: no change.
  absl::Status (*rewrite)(Graph& merged) = nullptr;
  // Whether the result of the first group is an output of the kernel too, before that of the second, so
  // that others may use it. The second group then reads nothing else.
  bool keeps_first = false;
};

struct Strategy {
  using WhyNot = std::string(const Workload&, const Target&);
  using Space = std::vector<Knob>(const Workload&, const Target&);
  using Default = Config(const Workload&, const Target&);
  using Apply = absl::Status(Schedule&, const Workload&, const Config&, const Target&);
  using Define = absl::StatusOr<ComputeDef>(const Workload&, const Config&);
  using Cost = double(const Workload&, const Config&, const Target&);

  std::string_view name;
  int version;  // increases whenever the same config would give another kernel
  // Why it does not apply to a workload; empty when it does.
  WhyNot* why_not;
  Space* space;
  Default* analytic_default;
  Apply* apply;
  // Defines the group for another algorithm; null: the operators' own definitions.
  Define* define = nullptr;
  // The predicted cycles of the whole kernel on one core, comparable with the costs of other strategies;
  // null: it has no cost model.
  Cost* cost = nullptr;
  // Whether an element's rounding error grows with its neighbours' terms too, not with its own alone.
  bool spreads_rounding = false;
  // The least share of the operators' operations that its algorithm needs.
  double least_work = 1;
  // Its ways to compute several groups in one kernel.
  std::span<const GroupFusion> fusions = {};
  // Whether it is the usual strategy for such an anchor: then its refusal is the one that people are told.
  // Null: for none.
  bool (*made_for)(const Node& anchor) = nullptr;
};

// In the order of preference; the last applies to everything.
std::span<const Strategy> AllStrategies();
const Strategy* FindStrategy(std::string_view name);

// Why a strategy does not apply to a workload.
struct Refusal {
  std::string strategy;
  std::string reason;
};
// The refusals of all strategies that do not apply, in order of preference.
std::vector<Refusal> RefusalsOf(const Workload& workload, const Target& target);
// The usual strategy for the workload's anchor (Strategy::made_for); null if there is none but the general
// one.
const Strategy* StrategyMadeFor(const Workload& workload);

// A group with its schedule.
struct ScheduledGroup {
  Workload workload;
  const Strategy* strategy;
  Config config;
  Schedule schedule;
};

// Schedules a group by a given strategy, which must apply to it, and config.
absl::StatusOr<ScheduledGroup> ScheduleBy(const Strategy& strategy, Workload workload, Config config,
                                          const Target& target);

// How a kernel was chosen: by a cost model, by its own measurements, or by those of a similar task.
enum class ChosenBy : uint8_t { kModel, kRecords, kSimilarRecords };

// A strategy that applies to a workload, and one of its configs.
struct KernelChoice {
  const Strategy* strategy = nullptr;
  Config config;
  ChosenBy by = ChosenBy::kModel;
  std::string code_digest = {};  // of the object code that was measured, if known
  std::string record = {};       // the digest of the record that it was chosen by, if any
};

// The first strategy that applies or, if that has a cost model, the cheapest of those that have one, with
// its analytic default.
absl::StatusOr<KernelChoice> ChooseAnalytically(const Workload& workload, const Target& target);
// Schedules a group by that choice.
absl::StatusOr<ScheduledGroup> ScheduleGroup(const Graph& region, const std::string& name,
                                             const Target& target,
                                             const std::vector<std::string>& symbols = {});

// The predicted cycles on one core of ScheduleGroup's choice. If the strategy has no cost model: one per
// term of a contraction, plus those for moving its inputs and outputs from and to L2.
absl::StatusOr<double> PredictCycles(const Graph& region, const Target& target);

// The savings that GroupFusion::savings predicts for `fusion`, one of the strategy's; -∞ if the strategy
// does not apply to the merged region.
absl::StatusOr<double> PredictSavings(const Strategy& strategy, const GroupFusion& fusion,
                                      const MergedGroups& groups, const Target& target);

// "tile_w=7 tile_c=4", and with the strategy before it.
std::string ToString(const Config& config);
std::string ToString(std::string_view strategy, const Config& config);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGY_H_

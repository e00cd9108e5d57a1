// Strategies: ways to schedule a fused group, each with its configs.
//
// A strategy maps a config, a handful of named numbers, to a list of schedule primitives. It says for which
// groups it applies (and if not, why not), which configs there are, and which one it takes untuned: its
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

// A fused group with what strategies want to know of it.
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
  const Value* result = nullptr;  // what output_stage computes

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

// The regions of two groups, of which the second reads the result of the first, and the region of both in
// one. Layouts are assigned.
struct MergedGroups {
  const Graph& first;
  const Graph& second;
  const Graph& merged;
};

// A way of a strategy to compute two groups in one kernel.
struct GroupFusion {
  // Whether it may be worth trying: a look at the operators. The second reads the result of the first as its
  // input `input`.
  bool (*may_join)(const Graph& first, const Graph& second, int input);
  // The cycles of one core that the kernel is predicted to save over a kernel each for the groups that it was
  // made of, of which there are more than two where the first was made by this fusion too. It pays where that
  // is more than what the first saves by itself. `workload` is of the merged region, and the strategy applies
  // to it.
  absl::StatusOr<double> (*savings)(const MergedGroups& groups, const Workload& workload, const Target&);
  // What it changes in the region of both before that; null: nothing.
  absl::Status (*rewrite)(Graph& merged) = nullptr;
  // Whether the result of the first is one of the kernel's too, before that of the second, so that others may
  // use it. The second then reads nothing else.
  bool keeps_first = false;
};

struct Strategy {
  std::string_view name;
  int version;  // counts up whenever the same config would give another kernel
  // Why it does not apply to a workload; empty when it does.
  std::string (*why_not)(const Workload&, const Target&);
  std::vector<Knob> (*space)(const Workload&, const Target&);
  Config (*analytic_default)(const Workload&, const Target&);
  absl::Status (*apply)(Schedule&, const Workload&, const Config&, const Target&);
  // Another definition of the group than its operators', for another algorithm; null: the operators'.
  absl::StatusOr<ComputeDef> (*define)(const Workload&, const Config&) = nullptr;
  // The predicted cycles of the whole kernel on one core, to be compared with other strategies' that tell
  // theirs; null: it does not tell.
  double (*cost)(const Workload&, const Config&, const Target&) = nullptr;
  // Whether an element's rounding error is in proportion to its neighbours' terms too, not to its own alone.
  bool spreads_rounding = false;
  // The least share of the operators' operations that its algorithm needs.
  double least_work = 1;
  // How it takes several groups into one kernel.
  std::span<const GroupFusion> fusions = {};
  // Whether it is made for such an anchor, at its most usual: then its refusal is what people are told. Null:
  // for none.
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
// Of all that do not apply, in their order.
std::vector<Refusal> RefusalsOf(const Workload& workload, const Target& target);
// The strategy that is made for such a contraction as the workload's anchor, at its most usual; null where
// only the one for everything is.
const Strategy* StrategyMadeFor(const Workload& workload);

// A group with its schedule.
struct ScheduledGroup {
  Workload workload;
  const Strategy* strategy;
  Config config;
  Schedule schedule;
};

// A group by a given strategy, which must apply to it, and config.
absl::StatusOr<ScheduledGroup> ScheduleBy(const Strategy& strategy, Workload workload, Config config,
                                          const Target& target);

// What a kernel was chosen by: a cost model, its own measurements, or those of a task like it.
enum class ChosenBy : uint8_t { kModel, kRecords, kSimilarRecords };

// A strategy that applies to a workload, and one of its configs.
struct KernelChoice {
  const Strategy* strategy = nullptr;
  Config config;
  ChosenBy by = ChosenBy::kModel;
  std::string code_digest = {};  // of the object code that was measured, if known
  std::string record = {};       // the digest of the record that spoke for it, if one did
};

// The first strategy that applies, or of those that tell their cost the cheapest, with its analytic default.
absl::StatusOr<KernelChoice> ChooseAnalytically(const Workload& workload, const Target& target);
// A group scheduled so.
absl::StatusOr<ScheduledGroup> ScheduleGroup(const Graph& region, const std::string& name,
                                             const Target& target,
                                             const std::vector<std::string>& symbols = {});

// The cycles that ScheduleGroup's choice is predicted to take on one core; those of moving its inputs and
// outputs from and to the second-level cache where the strategy does not tell.
absl::StatusOr<double> PredictCycles(const Graph& region, const Target& target);

// What `fusion`, one of the strategy's, is predicted to save (GroupFusion::savings); -∞ where the strategy
// does not apply to the region of both.
absl::StatusOr<double> PredictSavings(const Strategy& strategy, const GroupFusion& fusion,
                                      const MergedGroups& groups, const Target& target);

// "tile_w=7 tile_c=4", and with the strategy before it.
std::string ToString(const Config& config);
std::string ToString(std::string_view strategy, const Config& config);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGY_H_

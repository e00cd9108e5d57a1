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

// The cycles of one core that computing a chain of convolutions and pools in one kernel is predicted to save
// over a kernel for each: negative where it costs more, -∞ where the region is no such chain.
absl::StatusOr<double> PredictChainSavings(const Graph& region, const Target& target);

// The cycles of one core that a group around a convolution is predicted to take which multiplies its weights
// by factors before it uses them: ∞ where no strategy does so.
absl::StatusOr<double> PredictScaledConv(const Graph& region, const Target& target);

// Whether a group whose second output is the mean over the pixels of each channel of the first computes it
// from rows that it has just made.
absl::StatusOr<bool> AveragesRows(const Graph& region, const Target& target);

// "tile_w=7 tile_c=4", and with the strategy before it.
std::string ToString(const Config& config);
std::string ToString(std::string_view strategy, const Config& config);

}  // namespace attune

#endif  // ATTUNE_LOWER_STRATEGY_H_

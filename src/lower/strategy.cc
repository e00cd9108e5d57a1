#include "lower/strategy.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/fatal.h"
#include "base/status.h"
#include "graph/node_rules.h"
#include "lower/flatten.h"
#include "lower/strategies/access.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

bool HasStage(const ComputeDef& def, std::string_view name) {
  return std::any_of(def.stages.begin(), def.stages.end(), [&](const Stage& s) { return s.name == name; });
}

// Whether an operator is computed: one that nothing reads has no stages.
bool HasStagesOf(const ComputeDef& def, const std::string& operator_name) {
  return std::any_of(def.stages.begin(), def.stages.end(), [&](const Stage& s) {
    return s.name == operator_name || s.name.starts_with(operator_name + ".");
  });
}

struct Candidate {
  const Strategy* strategy = nullptr;
  Config config;
  double cost = std::numeric_limits<double>::infinity();
};

// The first strategy that applies or, if that has a cost model, the cheapest of those that have one.
Candidate Cheapest(const Workload& workload, const Target& target) {
  Candidate best;
  for (const Strategy& strategy : AllStrategies()) {
    if (best.strategy != nullptr && strategy.cost == nullptr) continue;
    if (!strategy.why_not(workload, target).empty()) continue;
    Config config = strategy.analytic_default(workload, target);
    const double cost = strategy.cost == nullptr ? 0 : strategy.cost(workload, config, target);
    if (best.strategy == nullptr || cost < best.cost) best = {&strategy, std::move(config), cost};
  }
  return best;
}

}  // namespace

const Stage& Workload::FindStage(std::string_view name) const {
  for (const Stage& stage : definition.stages) {
    if (stage.name == name) return stage;
  }
  Fatal("no stage ", std::string(name));
}

absl::StatusOr<Workload> AnalyzeGroup(const Graph& region, const std::string& name,
                                      const std::vector<std::string>& symbols) {
  Workload workload;
  workload.region = &region;
  ASSIGN_OR_RETURN(workload.definition, DefineRegion(region, name, symbols));
  workload.num_outputs = static_cast<int>(region.outputs().size());
  const Definition names(region, name);
  int best = 0;
  for (const auto& node : region.nodes()) {
    if (node->op() == Op::kConstant || !HasStagesOf(workload.definition, names.StageName(*node))) continue;
    const int rank = GetOpInfo(node->op()).anchor_rank;
    workload.num_anchors += rank >= kLeastAnchorRank;
    if (rank > best) {
      best = rank;
      workload.anchor = node.get();
      workload.anchor_stage = names.StageName(*node);
    }
    bool is_output = false;
    for (int i = 0; i < node->num_outputs(); ++i) is_output |= region.IsOutput(node->output(i));
    if (IsPointwise(*node) && !is_output) workload.elementwise_stages.push_back(names.StageName(*node));
  }
  const std::string accumulator = workload.anchor_stage + ".acc";
  if (workload.anchor != nullptr && HasStage(workload.definition, accumulator))
    workload.accumulator_stage = accumulator;
  const Node* producer = region.outputs()[0].value->producer();
  if (producer == nullptr) return InternalError("group ", name, " passes an input through");
  workload.result = region.outputs()[0].value;
  workload.output_stage = names.StageName(*producer);
  return workload;
}

std::span<const Strategy> AllStrategies() {
  static constexpr Strategy kStrategies[] = {
      kConvDirect, kConvWinograd, kConvMatrix,      kConvShallow, kSlidingWindow, kConvChain,
      kGemmMatrix, kGemm,         kAttentionMatrix, kAttention,   kContraction,   kLoops,
  };
  return kStrategies;
}

const Strategy* FindStrategy(std::string_view name) {
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.name == name) return &strategy;
  }
  return nullptr;
}

std::vector<Refusal> RefusalsOf(const Workload& workload, const Target& target) {
  std::vector<Refusal> refusals;
  for (const Strategy& strategy : AllStrategies()) {
    std::string reason = strategy.why_not(workload, target);
    if (!reason.empty()) refusals.push_back({std::string(strategy.name), std::move(reason)});
  }
  return refusals;
}

const Strategy* StrategyMadeFor(const Workload& workload) {
  if (workload.anchor == nullptr) return nullptr;
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.made_for != nullptr && strategy.made_for(*workload.anchor)) return &strategy;
  }
  return nullptr;
}

absl::StatusOr<ScheduledGroup> ScheduleBy(const Strategy& strategy, Workload workload, Config config,
                                          const Target& target) {
  const std::string what = absl::StrCat("strategy ", strategy.name, " on ", workload.definition.name);
  if (strategy.define != nullptr) {
    absl::StatusOr<ComputeDef> definition = strategy.define(workload, config);
    if (!definition.ok()) return Annotate(definition.status(), what);
    workload.definition = std::move(*definition);
  }
  Schedule schedule(workload.definition);
  RETURN_IF_ERROR(Annotate(strategy.apply(schedule, workload, config, target), what));
  return ScheduledGroup{std::move(workload), &strategy, std::move(config), std::move(schedule)};
}

absl::StatusOr<KernelChoice> ChooseAnalytically(const Workload& workload, const Target& target) {
  Candidate best = Cheapest(workload, target);
  if (best.strategy == nullptr) return InternalError("no strategy applies to ", workload.definition.name);
  return KernelChoice{best.strategy, std::move(best.config)};
}

absl::StatusOr<ScheduledGroup> ScheduleGroup(const Graph& region, const std::string& name,
                                             const Target& target, const std::vector<std::string>& symbols) {
  ASSIGN_OR_RETURN(Workload workload, AnalyzeGroup(region, name, symbols));
  ASSIGN_OR_RETURN(KernelChoice choice, ChooseAnalytically(workload, target));
  return ScheduleBy(*choice.strategy, std::move(workload), std::move(choice.config), target);
}

absl::StatusOr<double> PredictCycles(const Graph& region, const Target& target) {
  ASSIGN_OR_RETURN(const Workload workload, AnalyzeGroup(region, "group"));
  const Candidate best = Cheapest(workload, target);
  if (best.strategy != nullptr && best.strategy->cost != nullptr) return best.cost;
  // Sums without a strategy of their own run at a small share of the peak: about one term per cycle.
  double terms = 0;
  for (const Stage& stage : workload.definition.stages) {
    const bool is_sum = workload.anchor != nullptr &&
                        GetOpInfo(workload.anchor->op()).category == OpCategory::kContraction &&
                        stage.is_reduction();
    if (is_sum) terms += static_cast<double>(WorkOf(stage));
  }
  int64_t bytes = 0;
  for (const auto& input : region.inputs()) bytes += input->type().num_physical_bytes();
  for (const Graph::Output& output : region.outputs()) bytes += output.value->type().num_physical_bytes();
  return terms + static_cast<double>(bytes) / target.l2_bytes_per_cycle;
}

absl::StatusOr<double> PredictSavings(const Strategy& strategy, const GroupFusion& fusion,
                                      const MergedGroups& groups, const Target& target) {
  const std::unique_ptr<Graph> merged = FlatCopy(groups.merged);
  ASSIGN_OR_RETURN(const Workload workload, AnalyzeGroup(*merged, "merged"));
  if (!strategy.why_not(workload, target).empty()) return -std::numeric_limits<double>::infinity();
  return fusion.savings(groups, workload, target);
}

bool IsConfigOf(const Config& config, const std::vector<Knob>& knobs) {
  return config.size() == knobs.size() && std::ranges::all_of(knobs, [&](const Knob& knob) {
           const auto it = config.find(knob.name);
           return it != config.end() && std::ranges::find(knob.values, it->second) != knob.values.end();
         });
}

std::string ToString(const Config& config) {
  std::string text;
  for (const auto& [name, value] : config) absl::StrAppend(&text, text.empty() ? "" : " ", name, "=", value);
  return text;
}

std::string ToString(std::string_view strategy, const Config& config) {
  return absl::StrCat(strategy, config.empty() ? "" : " ", ToString(config));
}

}  // namespace attune

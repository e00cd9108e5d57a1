#include "plan/contractions.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "graph/flops.h"

namespace attune {
namespace {

// The reason that says most: why the strategy that is made for such contractions does not apply. Empty
// where any strategy but the most general one applies.
std::string WhySlow(const Workload& workload, const std::vector<Refusal>& refusals) {
  if (workload.anchor == nullptr || refusals.size() + 1 < AllStrategies().size()) return "";
  const Strategy* made_for = StrategyMadeFor(workload);
  for (const Refusal& refusal : refusals) {
    if (made_for != nullptr && refusal.strategy == made_for->name)
      return absl::StrCat(refusal.strategy, ": ", refusal.reason);
  }
  return absl::StrCat("no strategy is made for ", OpName(workload.anchor->op()));
}

// Fills in everything except the label; nothing for a kernel without contractions.
absl::StatusOr<std::optional<PlannedContraction>> ContractionOf(const PlannedKernel& kernel,
                                                                const NetworkPlan& plan,
                                                                const Target& target) {
  PlannedContraction contraction;
  contraction.count = 0;
  for (const auto& node : kernel.region->nodes()) {
    if (GetOpInfo(node->op()).category != OpCategory::kContraction) continue;
    ++contraction.count;
    contraction.multiply_adds += CountMultiplyAdds(*node);
  }
  if (contraction.multiply_adds == 0) return std::nullopt;
  ASSIGN_OR_RETURN(const Workload workload, AnalyzeGroup(*kernel.region, kernel.nest.name, plan.symbols));
  contraction.op = workload.anchor == nullptr ? "" : OpName(workload.anchor->op());
  contraction.operators = kernel.operators;
  contraction.strategy = kernel.strategy;
  contraction.refusals = RefusalsOf(workload, target);
  contraction.why_slow = WhySlow(workload, contraction.refusals);
  return contraction;
}

}  // namespace

absl::StatusOr<std::vector<PlannedContraction>> ListContractions(const NetworkPlan& plan,
                                                                 const Target& target) {
  std::map<int, std::optional<PlannedContraction>> of_kernels;
  std::vector<PlannedContraction> contractions;
  for (const Step& step : plan.steps) {
    if (step.kind != StepKind::kCall) continue;
    const auto [it, is_new] = of_kernels.try_emplace(step.kernel);
    if (is_new) {
      const PlannedKernel& kernel = plan.kernels[static_cast<size_t>(step.kernel)];
      ASSIGN_OR_RETURN(it->second, ContractionOf(kernel, plan, target));
    }
    if (!it->second.has_value()) continue;
    contractions.push_back(*it->second);
    contractions.back().label = step.label;
  }
  return contractions;
}

SlowContractions CountSlow(const std::vector<PlannedContraction>& contractions) {
  SlowContractions count;
  int64_t slow = 0;
  for (const PlannedContraction& contraction : contractions) {
    count.all += contraction.count;
    count.multiply_adds += contraction.multiply_adds;
    if (!contraction.is_slow()) continue;
    count.slow += contraction.count;
    slow += contraction.multiply_adds;
  }
  if (slow > 0) count.share = static_cast<double>(slow) / static_cast<double>(count.multiply_adds);
  return count;
}

}  // namespace attune

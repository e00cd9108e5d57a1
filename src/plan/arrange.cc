#include "plan/arrange.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "plan/fuse_groups.h"
#include "plan/layout.h"
#include "plan/program.h"
#include "plan/widen_bytes.h"

namespace attune {
namespace {

// How often the kernel of each task runs in one inference.
using Uses = std::map<std::string, int>;

struct Arrangement {
  int classes = 0;
  Uses uses;
};

absl::StatusOr<Arrangement> Arrange(const Graph& graph, const Target& target,
                                    const LayoutOverrides& overrides, const KernelCosts& costs) {
  const std::unique_ptr<Graph> copy = graph.Clone();
  Arrangement arrangement;
  ASSIGN_OR_RETURN(arrangement.classes, ArrangeGroups(*copy, target, overrides, costs));
  ASSIGN_OR_RETURN(const NetworkPlan plan, PlanNetwork(*copy, target));
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kCall) ++arrangement.uses[plan.kernels[static_cast<size_t>(step.kernel)].task];
  }
  return arrangement;
}

// Seconds of one inference that the second arrangement saves; nothing where a kernel that the two use
// differently often was not measured.
std::optional<double> Savings(const Uses& first, const Uses& second, const KernelCosts& costs) {
  Uses more = first;
  for (const auto& [task, uses] : second) more[task] -= uses;
  double savings = 0;
  for (const auto& [task, uses] : more) {
    if (uses == 0) continue;
    const double seconds = costs.SecondsOf(task);
    if (seconds <= 0) return std::nullopt;
    savings += uses * seconds;
  }
  return savings;
}

}  // namespace

absl::StatusOr<int> ArrangeGroups(Graph& graph, const Target& target, const LayoutOverrides& overrides,
                                  const KernelCosts& costs) {
  RETURN_IF_ERROR(WidenBytes(graph, target));
  ASSIGN_OR_RETURN(const int classes, AssignLayouts(graph, target, overrides, costs));
  RETURN_IF_ERROR(FuseGroups(graph, target, costs));
  return classes;
}

absl::StatusOr<LayoutOverrides> ChooseLayoutOverrides(const Graph& graph, const Target& target,
                                                      const KernelCosts& costs) {
  LayoutOverrides overrides;
  if (&costs == &AnalyticChooser()) return overrides;  // which has measured nothing
  ASSIGN_OR_RETURN(Arrangement best, Arrange(graph, target, overrides, costs));
  for (int candidate = 0; candidate < best.classes; ++candidate) {
    overrides.insert(candidate);
    ASSIGN_OR_RETURN(Arrangement other, Arrange(graph, target, overrides, costs));
    if (Savings(best.uses, other.uses, costs).value_or(0) > 0) {
      best = std::move(other);
    } else {
      overrides.erase(candidate);
    }
  }
  return overrides;
}

}  // namespace attune

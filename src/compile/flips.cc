#include "compile/flips.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "compile/compile.h"
#include "plan/program.h"

namespace attune {
namespace {

// How often the kernel of each task runs in one inference.
using Uses = std::map<std::string, int>;

struct Arrangement {
  int classes = 0;
  Uses uses;
};

absl::StatusOr<Arrangement> Arrange(const Graph& graph, const Target& target, const BlockFlips& flips) {
  const std::unique_ptr<Graph> copy = graph.Clone();
  Arrangement arrangement;
  ASSIGN_OR_RETURN(arrangement.classes, ArrangeGroups(*copy, target, flips));
  ASSIGN_OR_RETURN(const NetworkPlan plan, PlanNetwork(*copy, target));
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kCall) ++arrangement.uses[plan.kernels[static_cast<size_t>(step.kernel)].task];
  }
  return arrangement;
}

// Seconds of one inference that the second saves; nothing where a kernel that only one has was not measured.
std::optional<double> Savings(const Uses& first, const Uses& second, const KernelChooser& chooser) {
  Uses more = first;
  for (const auto& [task, uses] : second) more[task] -= uses;
  double savings = 0;
  for (const auto& [task, uses] : more) {
    if (uses == 0) continue;
    const double seconds = chooser.SecondsOf(task);
    if (seconds <= 0) return std::nullopt;
    savings += uses * seconds;
  }
  return savings;
}

}  // namespace

absl::StatusOr<BlockFlips> ChooseFlips(const Graph& graph, const Target& target,
                                       const KernelChooser& chooser) {
  BlockFlips flips;
  if (&chooser == &AnalyticChooser()) return flips;
  ASSIGN_OR_RETURN(Arrangement best, Arrange(graph, target, flips));
  for (int flipped = 0; flipped < best.classes; ++flipped) {
    flips.insert(flipped);
    ASSIGN_OR_RETURN(Arrangement other, Arrange(graph, target, flips));
    if (Savings(best.uses, other.uses, chooser).value_or(0) > 0) {
      best = std::move(other);
    } else {
      flips.erase(flipped);
    }
  }
  return flips;
}

}  // namespace attune

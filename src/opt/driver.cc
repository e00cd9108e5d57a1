#include "opt/driver.h"

#include "absl/strings/str_format.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

int CountNodes(const Graph& graph) {
  int count = 0;
  for (const auto& node : graph.nodes()) count += node->op() != Op::kConstant;
  return count;
}

absl::Status Dump(const Graph& graph, const std::string& folder, int number, std::string_view name) {
  if (folder.empty()) return absl::OkStatus();
  return WriteFileAtomically(absl::StrFormat("%s/%02d_%s.txt", folder, number, name),
                             Print(graph, {.max_constant_elements = 64}));
}

PassContext MakeContext(const PassInfo& info, const PassStep& step, const RunOptions& options) {
  PassContext context;
  for (const PassParameter& parameter : info.parameters) {
    const auto it = step.parameters.find(parameter.name);
    context.parameters.emplace(parameter.name,
                               it == step.parameters.end() ? parameter.default_value : it->second);
  }
  context.evaluate = options.evaluate ? options.evaluate : Evaluator(EvaluateNode);
  context.measurement = options.measurement;
  context.narrowing = options.narrowing;
  if (options.log) context.log = options.log;
  return context;
}

// Applies the pass to the regions of if and loop, then to `graph`.
absl::StatusOr<bool> Apply(PassFunction pass, Graph& graph, const PassContext& context) {
  PassContext of_regions = context;
  of_regions.measurement = {};
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kFused) continue;
    of_regions.owner = node.get();
    for (int i = 0; i < node->num_regions(); ++i) {
      ASSIGN_OR_RETURN(const bool region_changed, Apply(pass, node->region(i), of_regions));
      changed |= region_changed;
    }
  }
  ASSIGN_OR_RETURN(const bool graph_changed, pass(graph, context));
  return changed || graph_changed;
}

absl::StatusOr<StepReport> RunStep(Graph& graph, const PassStep& step, const RunOptions& options) {
  const PassInfo* info = FindPass(step.pass);
  if (info == nullptr) return InvalidInput("pass plan: no pass '", step.pass, "'");
  StepReport report{.pass = step.pass};
  report.disabled = options.disabled.contains(step.pass);
  if (!report.disabled) {
    const Stopwatch watch(*options.clock);
    const absl::StatusOr<bool> changed = Apply(info->function, graph, MakeContext(*info, step, options));
    report.seconds = watch.Seconds();
    if (!changed.ok()) return Annotate(changed.status(), absl::StrCat("pass ", step.pass));
    report.changed = *changed;
  }
  if (report.changed && options.verify) {
    RETURN_IF_ERROR(Annotate(Verify(graph), absl::StrCat("after pass ", step.pass)));
  }
  report.nodes_after = CountNodes(graph);
  return report;
}

}  // namespace

absl::StatusOr<std::vector<StepReport>> RunPlan(Graph& graph, const PassPlan& plan,
                                                const RunOptions& options) {
  RETURN_IF_ERROR(Dump(graph, options.dump_folder, 0, "input"));
  std::vector<StepReport> reports;
  for (const PassStep& step : plan.steps) {
    const int index = static_cast<int>(reports.size());
    RETURN_IF_ERROR(
        options.control.Continue(absl::StrCat("pass ", step.pass), index, std::ssize(plan.steps)));
    ASSIGN_OR_RETURN(StepReport report, RunStep(graph, step, options));
    Log(LogLevel::kDebug, "pass applied", "pass", step.pass, "seconds", report.seconds, "nodes",
        report.nodes_after);
    if (report.changed) RETURN_IF_ERROR(Dump(graph, options.dump_folder, index + 1, step.pass));
    if (options.observer) options.observer(index, step.pass, report.changed, graph);
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace attune

#include "tune/task.h"

#include <utility>

#include "base/status.h"
#include "plan/program.h"
#include "tune/record.h"

namespace attune {

absl::StatusOr<Workload> TuningTask::Analyze() const { return AnalyzeGroup(*region, "task"); }

absl::StatusOr<std::vector<TuningTask>> ExtractTasks(const Graph& graph, const Target& target) {
  ASSIGN_OR_RETURN(NetworkPlan plan, PlanNetwork(graph, target));
  std::vector<TuningTask> tasks;
  for (PlannedKernel& kernel : plan.kernels) {
    TuningTask& task = tasks.emplace_back();
    task.text = std::move(kernel.task);
    task.digest = TaskDigest(task.text);
    task.region = std::move(kernel.region);
    task.constant_inputs = std::move(kernel.constant_inputs);
    task.flops = static_cast<double>(kernel.flops);
    task.bytes = static_cast<double>(kernel.bytes_read + kernel.bytes_written);
  }
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kCall) ++tasks[static_cast<size_t>(step.kernel)].uses;
  }
  return tasks;
}

}  // namespace attune

#include "tune/task/task.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/dtype.h"
#include "base/status.h"
#include "graph/demand.h"
#include "graph/text.h"
#include "plan/program.h"
#include "tune/task/task_text.h"

namespace attune {
namespace {

// Whether each step runs in every inference: a jump forward may skip the steps that it passes.
std::vector<bool> SureSteps(const std::vector<Step>& steps) {
  std::vector<bool> is_sure(steps.size(), true);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind != StepKind::kJump && steps[i].kind != StepKind::kBranchIfFalse) continue;
    for (size_t skipped = i + 1; skipped < static_cast<size_t>(std::max(steps[i].target, 0)); ++skipped)
      is_sure[skipped] = false;
  }
  return is_sure;
}

}  // namespace

absl::StatusOr<Workload> TuningTask::Analyze() const { return AnalyzeGroup(*region, "task"); }

TaskDemand DemandOf(const TuningTask& task) {
  const Graph& region = *task.region;
  const Demand demand = DemandOf(region);
  TaskDemand of_task = {.contraction_flops = demand.contraction_flops, .other_flops = demand.other_flops};
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    const DType dtype = region.inputs()[i]->type().dtype;
    // The plan stores constants in 16 bits that these hold exactly (plan/narrow_constants.h).
    const bool may_be_narrow = dtype == DType::kF32 && task.constant_inputs.contains(static_cast<int>(i));
    of_task.bytes_read += demand.elements_read[i] * DTypeSize(may_be_narrow ? DType::kBF16 : dtype);
  }
  for (size_t i = 0; i < region.outputs().size(); ++i)
    of_task.bytes_written += demand.elements_written[i] * DTypeSize(region.outputs()[i].value->type().dtype);
  return of_task;
}

absl::StatusOr<TuningTask> ParseTask(const std::string& text) {
  // The region, then " constant N" for each constant input.
  const size_t end = text.rfind('}');
  if (end == std::string::npos) return InvalidInput("the task's text has no graph");
  TuningTask task;
  ASSIGN_OR_RETURN(task.region, ParseGraph(text.substr(0, end + 1)));
  std::string_view previous;
  for (absl::string_view word :
       absl::StrSplit(absl::string_view(text).substr(end + 1), absl::ByAnyChar(" \n"))) {
    int input = 0;
    if (previous == "constant" && absl::SimpleAtoi(word, &input) && input >= 0 &&
        static_cast<size_t>(input) < task.region->inputs().size()) {
      task.constant_inputs.insert(input);
    }
    previous = word;
  }
  task.text = text;
  task.digest = TaskDigest(text);
  return task;
}

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
  const std::vector<bool> is_sure = SureSteps(plan.steps);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.kind != StepKind::kCall) continue;
    TuningTask& task = tasks[static_cast<size_t>(step.kernel)];
    ++task.uses;
    if (is_sure[i]) ++task.sure_uses;
  }
  return tasks;
}

}  // namespace attune

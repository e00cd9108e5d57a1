#include "tune/task/task.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "graph/text.h"
#include "plan/program.h"
#include "tune/task/task_text.h"

namespace attune {

absl::StatusOr<Workload> TuningTask::Analyze() const { return AnalyzeGroup(*region, "task"); }

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
  for (const Step& step : plan.steps) {
    if (step.kind == StepKind::kCall) ++tasks[static_cast<size_t>(step.kernel)].uses;
  }
  return tasks;
}

}  // namespace attune

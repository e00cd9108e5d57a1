#include "service/models/model_facts.h"

#include <memory>

#include "base/status.h"
#include "tune/job/lower_bound.h"
#include "tune/task/task_text.h"

namespace attune {
namespace {

constexpr size_t kDescriptionBytes = 200;

absl::StatusOr<TaskFacts> FactsOfTask(const TuningTask& task, const Target& target) {
  TaskFacts facts = {.digest = task.digest,
                     .description = DescribeTask(task.text, kDescriptionBytes),
                     .uses = task.uses,
                     .sure_uses = task.sure_uses};
  ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
  if (workload.anchor != nullptr) facts.anchor = OpName(workload.anchor->op());
  ASSIGN_OR_RETURN(facts.work, LeastWork(task, target));
  return facts;
}

void AddInterface(const Graph& graph, ModelFacts& facts) {
  for (const auto& input : graph.inputs()) facts.inputs.push_back({input->name(), ToString(input->type())});
  for (const Graph::Output& output : graph.outputs())
    facts.outputs.push_back({output.name, ToString(output.value->type())});
}

}  // namespace

double ModelFacts::BoundSeconds(const Peaks& peaks, const CacheSizes& caches, int threads) const {
  double seconds = 0;
  for (const TaskFacts& task : tasks)
    seconds += task.sure_uses * BoundOf(task.work, peaks, caches, threads).seconds;
  return seconds;
}

ModelFacts ModelFacts::Quantized() const {
  constexpr double kNarrower = 0.25;
  ModelFacts facts = *this;
  facts.weight_bytes *= kNarrower;
  for (TaskFacts& task : facts.tasks) {
    task.work.multiplicand = Multiplicand::kInt8;
    task.work.bytes_read *= kNarrower;
    task.work.bytes_written *= kNarrower;
  }
  return facts;
}

absl::StatusOr<ModelFacts> FactsOfModel(const Network& model, const Target& target) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> imported, model.Imported());
  ModelFacts facts = {.target = target.name};
  ASSIGN_OR_RETURN(facts.network, model.GraphDigest());
  AddInterface(*imported, facts);
  ASSIGN_OR_RETURN(facts.interface, model.Interface());
  ASSIGN_OR_RETURN(const int64_t weight_bytes, model.WeightBytes());
  facts.weight_bytes = static_cast<double>(weight_bytes);
  ASSIGN_OR_RETURN(const std::vector<TuningTask> tasks, model.Optimize().Tasks(target));
  for (const TuningTask& task : tasks) {
    ASSIGN_OR_RETURN(TaskFacts of_task, FactsOfTask(task, target));
    facts.tasks.push_back(std::move(of_task));
  }
  return facts;
}

}  // namespace attune

#include "api/compiled_executor.h"

#include <utility>

#include "api/network.h"
#include "base/status.h"

namespace attune {

CompiledExecutor::CompiledExecutor(Target target, PassPlan plan, int threads)
    : target_(std::move(target)), plan_(std::move(plan)), threads_(threads) {}

absl::StatusOr<std::vector<Tensor>> CompiledExecutor::Run(const Graph& graph,
                                                          const std::vector<Tensor>& inputs) const {
  if (inputs.size() != graph.inputs().size()) {
    return InvalidInput("the graph has ", graph.inputs().size(), " inputs, not ", inputs.size());
  }
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i) named.push_back({graph.inputs()[i]->name(), inputs[i]});
  CompileOptions options;
  options.target = target_;
  options.jobs = threads_;
  ASSIGN_OR_RETURN(
      const std::vector<NamedTensor> outputs,
      Network::FromGraph(graph, graph.name()).Optimize(plan_).Compile(options).Run(named, threads_));
  std::vector<Tensor> tensors;
  for (const NamedTensor& output : outputs) tensors.push_back(output.tensor);
  return tensors;
}

}  // namespace attune

#include "api/compiled_executor.h"

#include <utility>

#include "api/network.h"
#include "base/status.h"
#include "graph/text.h"

namespace attune {
namespace {

void CollectConstants(const Graph& graph, std::vector<const std::byte*>& constants) {
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) constants.push_back(node->output()->constant()->data());
    for (int i = 0; i < node->num_regions(); ++i) CollectConstants(node->region(i), constants);
  }
}

}  // namespace

CompiledExecutor::CompiledExecutor(PassPlan plan, int threads) : plan_(std::move(plan)), threads_(threads) {}

CompiledExecutor::Key CompiledExecutor::KeyOf(const Graph& graph) {
  Key key{Print(graph, {.max_constant_elements = 0}), {}};
  CollectConstants(graph, key.constants);
  return key;
}

absl::StatusOr<std::vector<Tensor>> CompiledExecutor::Run(const Graph& graph,
                                                          const std::vector<Tensor>& inputs) const {
  if (inputs.size() != graph.inputs().size()) {
    return InvalidInput("the graph has ", graph.inputs().size(), " inputs, not ", inputs.size());
  }
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i) named.push_back({graph.inputs()[i]->name(), inputs[i]});
  const std::lock_guard<std::mutex> lock(mutex_);
  Key key = KeyOf(graph);
  if (!session_ || !(key == key_)) {
    session_.reset();
    CompileOptions options;
    options.jobs = threads_;
    const Network network = Network::FromGraph(graph, graph.name()).Optimize(plan_).Compile(options);
    ASSIGN_OR_RETURN(Session session, network.NewSession(threads_, named));
    graph_ = graph.Clone();
    key_ = std::move(key);
    session_.emplace(std::move(session));
  } else {
    RETURN_IF_ERROR(session_->SetInputs(named));
  }
  RETURN_IF_ERROR(session_->Run());
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, session_->Outputs());
  std::vector<Tensor> tensors;
  for (const NamedTensor& output : outputs) tensors.push_back(output.tensor);
  return tensors;
}

}  // namespace attune

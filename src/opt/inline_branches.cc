#include <unordered_map>

#include "base/status.h"
#include "opt/passes.h"

namespace attune {
namespace {

// Copies the nodes of `region`, whose inputs are `arguments`, before `before`; gives its results.
absl::StatusOr<std::vector<Value*>> Inline(Graph& graph, const Graph& region,
                                           const std::vector<Value*>& arguments, Node* before) {
  std::unordered_map<const Value*, Value*> outside = {{nullptr, nullptr}};
  for (size_t i = 0; i < arguments.size(); ++i) outside[region.inputs()[i].get()] = arguments[i];
  for (const auto& node : region.nodes()) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) inputs.push_back(outside.at(input));
    std::vector<std::unique_ptr<Graph>> regions;
    for (int i = 0; i < node->num_regions(); ++i) regions.push_back(node->region(i).Clone());
    ASSIGN_OR_RETURN(const Node* copy, graph.Add(node->op(), std::move(inputs), node->attrs(), node->name(),
                                                 before, std::move(regions), node->num_outputs()));
    for (int i = 0; i < node->num_outputs(); ++i) outside[node->output(i)] = copy->output(i);
  }
  std::vector<Value*> results;
  for (const Graph::Output& output : region.outputs()) results.push_back(outside.at(output.value));
  return results;
}

}  // namespace

absl::StatusOr<bool> InlineBranchesPass(Graph& graph, const PassContext&) {
  bool changed = false;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    const Tensor* condition = node->op() == Op::kIf ? node->input(0)->constant() : nullptr;
    if (condition == nullptr) continue;
    const Graph& branch = node->region(condition->ToInt(0) != 0 ? 0 : 1);
    const std::vector<Value*> arguments(node->inputs().begin() + 1, node->inputs().end());
    ASSIGN_OR_RETURN(const std::vector<Value*> results, Inline(graph, branch, arguments, node));
    for (int i = 0; i < node->num_outputs(); ++i) graph.ReplaceAllUses(node->output(i), results[i]);
    graph.Erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace attune

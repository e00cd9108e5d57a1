#include "plan/group_merge.h"

#include <utility>

#include "base/status.h"

namespace attune {

absl::Status ForEachGroup(Graph& graph, const std::function<absl::Status(Graph&, Node*)>& visit) {
  auto& nodes = graph.nodes();
  for (auto it = nodes.begin(); it != nodes.end();) {
    Node* const node = (it++)->get();
    if (node->op() == Op::kFused) {
      RETURN_IF_ERROR(visit(graph, node));
      continue;
    }
    for (int r = 0; r < node->num_regions(); ++r) RETURN_IF_ERROR(ForEachGroup(node->region(r), visit));
  }
  return absl::OkStatus();
}

Node* GroupThatMakesOnly(const Graph& graph, const Value* value) {
  Node* group = value->producer();
  const bool is_group = group != nullptr && group->op() == Op::kFused && group->num_outputs() == 1;
  return is_group && value->users().size() == 1 && !graph.IsOutput(value) ? group : nullptr;
}

absl::Status GroupMerge::Build() {
  RETURN_IF_ERROR(Copy(first_));
  values_[first_.output()] = inside_.at(first_.region().outputs()[0].value);
  RETURN_IF_ERROR(Copy(second_));
  const Graph::Output& output = second_.region().outputs()[0];
  region_->AddOutput(output.name, inside_.at(output.value));
  return absl::OkStatus();
}

absl::StatusOr<Node*> GroupMerge::Replace(Graph& graph, Node* first, Node* second) {
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(region_));
  ASSIGN_OR_RETURN(Node* const merged, graph.Add(Op::kFused, std::move(inputs_), {}, second->name(), second,
                                                 std::move(regions), 1));
  merged->output()->set_name(second->output()->name());
  graph.ReplaceAllUses(second->output(), merged->output());
  graph.Erase(second);
  graph.Erase(first);
  return merged;
}

absl::Status GroupMerge::Copy(const Node& fused) {
  const Graph& from = fused.region();
  for (int i = 0; i < fused.num_inputs(); ++i) {
    const Value* inner = from.inputs()[static_cast<size_t>(i)].get();
    Value*& value = values_[fused.input(i)];
    if (value == nullptr) {
      value = region_->AddInput(inner->name(), inner->type());
      inputs_.push_back(fused.input(i));
    }
    inside_[inner] = value;
  }
  for (const auto& node : from.nodes()) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs())
      inputs.push_back(input == nullptr ? nullptr : inside_.at(input));
    ASSIGN_OR_RETURN(const Node* const copy, region_->AddCopy(*node, std::move(inputs)));
    for (int i = 0; i < node->num_outputs(); ++i) inside_[node->output(i)] = copy->output(i);
  }
  return absl::OkStatus();
}

}  // namespace attune

#include "plan/group_merge.h"

#include <algorithm>
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

Node* GroupThatMakes(const Value* value) {
  Node* group = value->producer();
  const bool is_group = group != nullptr && group->op() == Op::kFused && group->num_outputs() == 1;
  return is_group ? group : nullptr;
}

Node* GroupThatMakesOnly(const Graph& graph, const Value* value) {
  return value->users().size() == 1 && !graph.IsOutput(value) ? GroupThatMakes(value) : nullptr;
}

int InputIndex(const Graph& region, const Value* value) {
  const auto& inputs = region.inputs();
  const auto at = std::ranges::find(inputs, value, &std::unique_ptr<Value>::get);
  return at == inputs.end() ? -1 : static_cast<int>(at - inputs.begin());
}

absl::StatusOr<Node*> AddGroupOf(Graph& graph, Value* value, Op op, Attributes attributes, std::string name,
                                 Node* before) {
  auto region = std::make_unique<Graph>();
  Value* input = region->AddInput("x", value->type());
  ASSIGN_OR_RETURN(Node* const node, region->Add(op, {input}, std::move(attributes)));
  region->AddOutput("y", node->output());
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(region));
  return graph.Add(Op::kFused, {value}, {}, std::move(name), before, std::move(regions), 1);
}

absl::Status GroupMerge::Build() {
  RETURN_IF_ERROR(Copy(*first_));
  values_[first_->output()] = inside_.at(first_->region().outputs()[0].value);
  RETURN_IF_ERROR(Copy(*second_));
  for (const Node* group : kept_) {
    const Graph::Output& output = group->region().outputs()[0];
    region_->AddOutput(output.name, inside_.at(output.value));
  }
  return absl::OkStatus();
}

absl::StatusOr<Node*> GroupMerge::Replace(Graph& graph) {
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(std::move(region_));
  Node* const place = kept_.front();  // before anything that uses a result
  ASSIGN_OR_RETURN(Node* const merged, graph.Add(Op::kFused, std::move(inputs_), {}, place->name(), place,
                                                 std::move(regions), static_cast<int>(kept_.size())));
  for (size_t i = 0; i < kept_.size(); ++i) {
    Value* const output = merged->output(static_cast<int>(i));
    output->set_name(kept_[i]->output()->name());
    graph.ReplaceAllUses(kept_[i]->output(), output);
  }
  graph.Erase(second_);
  graph.Erase(first_);
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

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/status.h"
#include "graph/node_rules.h"
#include "opt/fusion_groups.h"
#include "opt/passes.h"

namespace attune {
namespace {

// Copies one group into a region and puts a fused node in its place.
class GroupBuilder {
 public:
  GroupBuilder(Graph& graph, const FusionGroup& group, const std::unordered_set<const Value*>& graph_outputs)
      : graph_(graph), group_(group), members_(group.nodes.begin(), group.nodes.end()) {
    for (const Node* node : group.nodes) {
      for (int i = 0; i < node->num_outputs(); ++i) {
        Value* output = node->output(i);
        const bool used = std::any_of(output->users().begin(), output->users().end(),
                                      [this](const Node* user) { return !members_.contains(user); });
        if (used || graph_outputs.contains(output)) results_.push_back(output);
      }
    }
  }

  absl::Status Build() {
    auto region = std::make_unique<Graph>(std::string(OpName(group_.anchor->op())));
    for (const Node* node : group_.nodes) RETURN_IF_ERROR(Copy(*node, *region));
    for (const Value* result : results_) region->AddOutput(result->name(), inside_[result]);

    std::vector<std::unique_ptr<Graph>> regions;
    regions.push_back(std::move(region));
    ASSIGN_OR_RETURN(Node * fused,
                     graph_.Add(Op::kFused, inputs_, {}, group_.anchor->name(), group_.nodes.back(),
                                std::move(regions), static_cast<int>(results_.size())));
    for (size_t i = 0; i < results_.size(); ++i) {
      Value* output = fused->output(static_cast<int>(i));
      output->set_name(results_[i]->name());
      graph_.ReplaceAllUses(results_[i], output);
    }
    for (auto it = group_.nodes.rbegin(); it != group_.nodes.rend(); ++it) graph_.Erase(*it);
    return absl::OkStatus();
  }

 private:
  absl::Status Copy(const Node& node, Graph& region) {
    std::vector<Value*> inputs;
    for (Value* input : node.inputs()) inputs.push_back(input == nullptr ? nullptr : Inside(input, region));
    ASSIGN_OR_RETURN(const Node* copy, region.AddCopy(node, std::move(inputs)));
    for (int i = 0; i < node.num_outputs(); ++i) inside_[node.output(i)] = copy->output(i);
    return absl::OkStatus();
  }

  // The region's value for an operand: made by a member, or an input or a constant made now.
  Value* Inside(Value* value, Graph& region) {
    Value*& inside = inside_[value];
    if (inside == nullptr) {
      if (BecomesCode(value)) {
        inside = region.AddConstant(*value->constant());
        inside->set_name(value->name());
      } else {
        inside = region.AddInput(value->name(), value->type());
        inputs_.push_back(value);
      }
    }
    return inside;
  }

  // Constants of one element are part of the code, but the weights of a tiny convolution are not.
  bool BecomesCode(const Value* value) const {
    const Tensor* constant = value->constant();
    if (constant == nullptr || constant->num_elements() != 1) return false;
    return constant->rank() == 0 ||
           std::all_of(value->users().begin(), value->users().end(),
                       [this](const Node* user) { return !members_.contains(user) || IsPointwise(*user); });
  }

  Graph& graph_;
  const FusionGroup& group_;
  std::unordered_set<const Node*> members_;
  std::vector<Value*> results_;  // used outside
  std::vector<Value*> inputs_;   // of the fused node
  std::unordered_map<const Value*, Value*> inside_;
};

}  // namespace

absl::StatusOr<bool> FusePass(Graph& graph, const PassContext& context) {
  const FusionOptions options{.epilogues = context.Parameter("epilogues") != 0,
                              .prologues = context.Parameter("prologues") != 0,
                              .max_nodes = static_cast<int>(context.Parameter("max_nodes")),
                              .max_inputs = static_cast<int>(context.Parameter("max_inputs"))};
  const std::vector<FusionGroup> groups = PartitionForFusion(graph, options);
  std::unordered_set<const Value*> graph_outputs;
  for (const Graph::Output& output : graph.outputs()) graph_outputs.insert(output.value);
  for (const FusionGroup& group : groups) RETURN_IF_ERROR(GroupBuilder(graph, group, graph_outputs).Build());
  // Constants that became code are not used by the graph any more.
  ASSIGN_OR_RETURN(const bool erased, DeadCodePass(graph, context));
  return erased || !groups.empty();
}

}  // namespace attune

#include "plan/chains.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "lower/strategy.h"

namespace attune {
namespace {

// Puts two groups, of which the second uses the result of the first, into one region.
class Merge {
 public:
  Merge(const Node& first, const Node& second) : first_(first), second_(second) {}

  absl::Status Build() {
    RETURN_IF_ERROR(Copy(first_));
    values_[first_.output()] = inside_.at(first_.region().outputs()[0].value);
    RETURN_IF_ERROR(Copy(second_));
    const Graph::Output& output = second_.region().outputs()[0];
    region_->AddOutput(output.name, inside_.at(output.value));
    return absl::OkStatus();
  }

  const Graph& region() const { return *region_; }

  // Puts the region in the place of the two. Returns the node that has it.
  absl::StatusOr<Node*> Replace(Graph& graph, Node* first, Node* second) {
    std::vector<std::unique_ptr<Graph>> regions;
    regions.push_back(std::move(region_));
    ASSIGN_OR_RETURN(Node* const chain, graph.Add(Op::kFused, std::move(inputs_), {}, second_.name(), second,
                                                  std::move(regions), 1));
    chain->output()->set_name(second->output()->name());
    graph.ReplaceAllUses(second->output(), chain->output());
    graph.Erase(second);
    graph.Erase(first);
    return chain;
  }

 private:
  absl::Status Copy(const Node& fused) {
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

  const Node &first_, &second_;
  std::unique_ptr<Graph> region_ = std::make_unique<Graph>("chain");
  std::map<const Value*, Value*> values_;  // the region's, by what they are outside
  std::map<const Value*, Value*> inside_;  // by what they are in the two regions
  std::vector<Value*> inputs_;             // of the chain
};

bool HasConvOrPool(const Graph& region) {
  return std::ranges::any_of(region.nodes(), [](const auto& node) {
    return IsConv(node->op()) || node->op() == Op::kMaxPool || node->op() == Op::kAvgPool;
  });
}

// The group that makes what `second` works on, where it may be computed with it.
Node* FirstOf(const Graph& graph, const Node& second) {
  if (second.op() != Op::kFused || second.num_outputs() != 1 || !HasConvOrPool(second.region()))
    return nullptr;
  for (const Value* input : second.inputs()) {
    Node* first = input->producer();
    if (first != nullptr && first->op() == Op::kFused && first->num_outputs() == 1 &&
        input->users().size() == 1 && !graph.IsOutput(input) && HasConvOrPool(first->region()))
      return first;
  }
  return nullptr;
}

}  // namespace

absl::Status FormChains(Graph& graph, const Target& target) {
  std::map<const Node*, double> saved;  // by chains
  auto& nodes = graph.nodes();
  for (auto it = nodes.begin(); it != nodes.end();) {
    Node* const second = (it++)->get();
    for (int r = 0; second->op() != Op::kFused && r < second->num_regions(); ++r)
      RETURN_IF_ERROR(FormChains(second->region(r), target));
    Node* const first = FirstOf(graph, *second);
    if (first == nullptr) continue;
    Merge merge(*first, *second);
    RETURN_IF_ERROR(merge.Build());
    ASSIGN_OR_RETURN(const double savings, PredictChainSavings(merge.region(), target));
    const auto before = saved.find(first);
    if (savings <= (before == saved.end() ? 0 : before->second)) continue;
    ASSIGN_OR_RETURN(Node* const chain, merge.Replace(graph, first, second));
    saved[chain] = savings;
  }
  return absl::OkStatus();
}

}  // namespace attune

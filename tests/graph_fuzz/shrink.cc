#include "shrink.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/fatal.h"
#include "graph/verify.h"
#include "reference/interpreter.h"

namespace attune::graph_fuzz {
namespace {

FuzzCase CopyOf(const FuzzCase& fuzz_case) {
  return {{fuzz_case.random.graph->Clone(), fuzz_case.random.inputs}, fuzz_case.setting};
}

Node* NodeAt(Graph& graph, int64_t index) { return std::next(graph.nodes().begin(), index)->get(); }

// The outputs of a graph cannot be removed, so the copy is built anew.
std::unique_ptr<Graph> CopyWithoutOutput(const Graph& graph, size_t dropped) {
  auto copy = std::make_unique<Graph>(graph.name());
  std::map<const Value*, Value*> copies = {{nullptr, nullptr}};
  for (const auto& input : graph.inputs()) copies[input.get()] = copy->AddInput(input->name(), input->type());
  for (const auto& node : graph.nodes()) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs()) inputs.push_back(copies.at(input));
    std::vector<std::unique_ptr<Graph>> regions;
    for (int i = 0; i < node->num_regions(); ++i) regions.push_back(node->region(i).Clone());
    const auto added = regions.empty() ? copy->AddCopy(*node, inputs)
                                       : copy->Add(node->op(), inputs, node->attrs(), node->name(), nullptr,
                                                   std::move(regions), node->num_outputs());
    if (!added.ok()) Fatal("a copy of a verified node: ", std::string(added.status().message()));
    for (int i = 0; i < node->num_outputs(); ++i) {
      (*added)->output(i)->set_name(node->output(i)->name());
      copies[node->output(i)] = (*added)->output(i);
    }
  }
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    if (i != dropped) copy->AddOutput(graph.outputs()[i].name, copies.at(graph.outputs()[i].value));
  }
  return copy;
}

// The outputs of node `index`, as the reference computes them.
std::optional<std::vector<Tensor>> ResultsOf(const RandomCase& random, int64_t index) {
  const std::unique_ptr<Graph> graph = random.graph->Clone();
  const Node& node = *NodeAt(*graph, index);
  const size_t first = graph->outputs().size();
  for (int i = 0; i < node.num_outputs(); ++i) graph->AddOutput(absl::StrCat("shrink", i), node.output(i));
  absl::StatusOr<std::vector<Tensor>> outputs = Interpreter().Run(*graph, random.inputs);
  if (!outputs.ok()) return std::nullopt;
  return std::vector<Tensor>(outputs->begin() + static_cast<int64_t>(first), outputs->end());
}

class Shrinking {
 public:
  Shrinking(FuzzCase fuzz_case, const StillFails& fails, int max_tries)
      : best_(std::move(fuzz_case)), fails_(fails), tries_left_(max_tries) {}

  FuzzCase Run() {
    bool smaller = true;
    while (smaller && tries_left_ > 0) {
      smaller = DropOutputs();
      smaller = ShrinkNodes() || smaller;
      smaller = ShrinkSetting() || smaller;
    }
    return std::move(best_);
  }

 private:
  // Takes `next` if it still fails.
  bool Try(FuzzCase next) {
    if (tries_left_-- <= 0) return false;
    RemoveUnused(next.random);
    if (next.random.graph->outputs().empty() || !Verify(*next.random.graph).ok() || !fails_(next))
      return false;
    best_ = std::move(next);
    return true;
  }

  bool DropOutputs() {
    bool smaller = false;
    for (size_t i = best_.random.graph->outputs().size(); i-- > 0;) {
      if (i >= best_.random.graph->outputs().size()) continue;
      smaller = Try(WithoutOutput(i)) || Retreat(i) || smaller;
    }
    return smaller;
  }

  FuzzCase WithoutOutput(size_t dropped) const {
    return {{CopyWithoutOutput(*best_.random.graph, dropped), best_.random.inputs}, best_.setting};
  }

  // Replaces an output by an operand of its node. The output gets a new name, since a fact holds only for
  // the old one.
  bool Retreat(size_t output) {
    const Node* producer = best_.random.graph->outputs()[output].value->producer();
    if (producer == nullptr) return false;
    const auto& nodes = best_.random.graph->nodes();
    const auto found =
        std::ranges::find_if(nodes, [producer](const auto& node) { return node.get() == producer; });
    const int64_t index = std::distance(nodes.begin(), found);
    for (int operand = 0; operand < producer->num_inputs(); ++operand) {
      if (producer->input(operand) == nullptr) continue;
      FuzzCase next = WithoutOutput(output);
      next.random.graph->AddOutput(absl::StrCat("shrunk", num_retreats_++),
                                   NodeAt(*next.random.graph, index)->input(operand));
      if (Try(std::move(next))) return true;
    }
    return false;
  }

  bool ShrinkNodes() {
    bool smaller = false;
    for (int64_t i = std::ssize(best_.random.graph->nodes()); i-- > 0;) {
      if (i >= std::ssize(best_.random.graph->nodes())) continue;
      if (NodeAt(*best_.random.graph, i)->op() == Op::kConstant) continue;
      smaller = Bypass(i) || Cut(i) || smaller;
    }
    return smaller;
  }

  // Replaces the node's result by one of its operands.
  bool Bypass(int64_t index) {
    const Node& node = *NodeAt(*best_.random.graph, index);
    for (int operand = 0; operand < node.num_inputs(); ++operand) {
      const Value* input = node.input(operand);
      if (input == nullptr || input->type() != node.output()->type()) continue;
      FuzzCase next = CopyOf(best_);
      Node* copy = NodeAt(*next.random.graph, index);
      next.random.graph->ReplaceAllUses(copy->output(), copy->input(operand));
      if (Try(std::move(next))) return true;
    }
    return false;
  }

  // Replaces the node's results by graph inputs.
  bool Cut(int64_t index) {
    const std::optional<std::vector<Tensor>> results = ResultsOf(best_.random, index);
    if (!results.has_value()) return false;
    FuzzCase next = CopyOf(best_);
    Graph& graph = *next.random.graph;
    Node* node = NodeAt(graph, index);
    for (int i = 0; i < node->num_outputs(); ++i) {
      Value* from = node->output(i);
      if (!from->type().is_static()) return false;
      if (graph.NumUses(from) == 0) continue;
      graph.ReplaceAllUses(from, graph.AddInput(absl::StrCat(from->name(), "_"),
                                                TensorType(from->type().dtype, from->type().dims)));
      next.random.inputs.push_back((*results)[static_cast<size_t>(i)]);
    }
    return Try(std::move(next));
  }

  bool ShrinkSetting() {
    bool smaller = false;
    const auto with = [&](auto change) {
      FuzzCase next = CopyOf(best_);
      change(next.setting);
      const bool same =
          ToString(next.setting) == ToString(best_.setting) && next.setting.plan == best_.setting.plan;
      smaller = (!same && Try(std::move(next))) || smaller;
    };
    with([](Setting& s) { s.threads = 1; });
    with([](Setting& s) { s.compact = false; });
    with([](Setting& s) { s.shared = false; });
    with([](Setting& s) { s.twice = false; });
    with([](Setting& s) { s.schedules = 0; });
    with([](Setting& s) { s.precision = Setting::Precision::kF32; });
    with([](Setting& s) { s.plan.steps = {{"fuse", {}}}; });
    for (size_t i = best_.setting.plan.steps.size(); i-- > 0;) {
      if (i + 1 >= best_.setting.plan.steps.size()) continue;
      with([i](Setting& s) { s.plan.steps.erase(s.plan.steps.begin() + static_cast<int64_t>(i)); });
    }
    return smaller;
  }

  FuzzCase best_;
  const StillFails& fails_;
  int tries_left_;
  int num_retreats_ = 0;
};

}  // namespace

FuzzCase Shrink(FuzzCase fuzz_case, const StillFails& fails, int max_tries) {
  return Shrinking(std::move(fuzz_case), fails, max_tries).Run();
}

}  // namespace attune::graph_fuzz

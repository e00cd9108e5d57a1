#include "coverage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lower/strategy.h"
#include "recipes.h"

namespace attune::graph_fuzz {

void Coverage::Add(const Graph& graph) {
  ++graphs_;
  const int64_t before = nodes_;
  AddNodes(graph);
  sizes_.push_back(nodes_ - before);
}

void Coverage::AddNodes(const Graph& graph) {
  std::set<Op> seen;
  std::set<std::pair<Op, Op>> seen_pairs;
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) continue;
    ++nodes_;
    seen.insert(node->op());
    for (const Value* input : node->inputs()) {
      const bool computed = input != nullptr && input->producer() != nullptr;
      if (computed && input->producer()->op() != Op::kConstant)
        seen_pairs.insert({input->producer()->op(), node->op()});
    }
    for (int i = 0; i < node->num_regions(); ++i) AddNodes(node->region(i));
  }
  for (const Op op : seen) ++operators_[op];
  for (const auto& pair : seen_pairs) ++pairs_[pair];
}

void Coverage::AddStrategies(const std::set<std::string>& strategies) {
  for (const std::string& name : strategies) ++strategies_[name];
}

std::string Coverage::ToString() const {
  std::vector<int64_t> sizes = sizes_;
  std::ranges::sort(sizes);
  std::string text = absl::StrCat(graphs_, " graphs, ", nodes_, " nodes");
  if (!sizes.empty())
    absl::StrAppend(&text, " (median ", sizes[sizes.size() / 2], ", at most ", sizes.back(), ")");
  absl::StrAppend(&text, ", ", operators_.size(), " of ", Recipes().size(), " operators, ", pairs_.size(),
                  " pairs of them\ngraphs with each operator:");
  for (const Recipe& recipe : Recipes()) {
    const auto count = operators_.find(recipe.op);
    absl::StrAppend(&text, " ", OpName(recipe.op), " ", count == operators_.end() ? 0 : count->second);
  }
  absl::StrAppend(&text, "\ngraphs with each strategy:");
  for (const Strategy& strategy : AllStrategies()) {
    const auto count = strategies_.find(std::string(strategy.name));
    absl::StrAppend(&text, " ", strategy.name, " ", count == strategies_.end() ? 0 : count->second);
  }
  absl::StrAppend(&text, "\nprograms for each processor:");
  for (const auto& [name, count] : settings_) absl::StrAppend(&text, " ", name, " ", count);
  return text + "\n";
}

}  // namespace attune::graph_fuzz

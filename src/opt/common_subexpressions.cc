#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "absl/hash/hash.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

namespace attune {
namespace {

// How many nodes of one hash are compared with a new one.
constexpr size_t kMaxCompared = 8;

// A hash of type and first bytes; tensors that differ only later are told apart by comparison.
size_t HashTensor(const Tensor& tensor) {
  const size_t bytes = static_cast<size_t>(std::min<int64_t>(tensor.num_bytes(), 256));
  return absl::HashOf(tensor.dtype(), tensor.shape(),
                      absl::string_view(reinterpret_cast<const char*>(tensor.data()), bytes));
}

size_t HashAttribute(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Tensor>) {
          return HashTensor(value);
        } else {
          return absl::HashOf(value);
        }
      },
      attribute);
}

size_t HashNode(const Node& node) {
  size_t inputs = 0;
  for (int i = 0; i < node.num_inputs(); ++i) {
    inputs += absl::HashOf(node.input(i), GetOpInfo(node.op()).commutes ? 0 : i);
  }
  size_t hash = absl::HashOf(node.op(), node.num_outputs(), inputs);
  for (const auto& [name, value] : node.attrs()) hash = absl::HashOf(hash, name, HashAttribute(value));
  return hash;
}

bool ComputeTheSame(const Node& a, const Node& b) {
  if (a.op() != b.op() || a.num_outputs() != b.num_outputs() || !(a.attrs() == b.attrs())) return false;
  if (a.inputs() == b.inputs()) return true;
  return GetOpInfo(a.op()).commutes && a.input(0) == b.input(1) && a.input(1) == b.input(0);
}

}  // namespace

absl::StatusOr<bool> CommonSubexpressionsPass(Graph& graph, const PassContext&) {
  bool changed = false;
  std::unordered_map<size_t, std::vector<Node*>> seen;
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    // Each data-dependent operator has a symbol of its own, which the types of later values mention.
    if (node->num_regions() > 0 || GetOpInfo(node->op()).category == OpCategory::kDynamic) continue;
    std::vector<Node*>& candidates = seen[HashNode(*node)];
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](const Node* earlier) { return ComputeTheSame(*earlier, *node); });
    if (same == candidates.end()) {
      if (candidates.size() < kMaxCompared) candidates.push_back(node);
      continue;
    }
    for (int i = 0; i < node->num_outputs(); ++i) graph.ReplaceAllUses(node->output(i), (*same)->output(i));
    graph.Erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace attune

#include <vector>

#include "opt/passes.h"

namespace attune {
namespace {

bool IsUsed(const Graph& graph, const Node& node) {
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (graph.NumUses(node.output(i)) > 0) return true;
  }
  return false;
}

}  // namespace

// One walk from the end suffices: a node's users come after it.
absl::StatusOr<bool> DeadCodePass(Graph& graph, const PassContext&) {
  bool changed = false;
  for (auto it = graph.nodes().end(); it != graph.nodes().begin();) {
    Node* node = std::prev(it)->get();
    if (IsUsed(graph, *node)) {
      --it;
    } else {
      graph.Erase(node);
      changed = true;
    }
  }
  return changed;
}

}  // namespace attune

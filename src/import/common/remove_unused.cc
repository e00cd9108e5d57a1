#include "import/common/remove_unused.h"

#include <iterator>

namespace attune::importing {

void RemoveUnused(Graph& graph, const Evaluator& evaluator) {
  for (auto it = graph.nodes().end(); it != graph.nodes().begin();) {
    Node* node = std::prev(it)->get();
    bool used = false;
    for (int i = 0; i < node->num_outputs(); ++i) used |= graph.NumUses(node->output(i)) > 0;
    if (used) {
      --it;
    } else {
      graph.Erase(node);
    }
  }
  for (int i = static_cast<int>(graph.inputs().size()) - 1; i >= 0; --i) {
    const Value* input = graph.inputs()[i].get();
    if (evaluator.Used(input) && graph.NumUses(input) == 0) graph.EraseInput(i);
  }
}

}  // namespace attune::importing

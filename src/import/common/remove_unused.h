// The last step of an import.
#ifndef ATTUNE_IMPORT_COMMON_REMOVE_UNUSED_H_
#define ATTUNE_IMPORT_COMMON_REMOVE_UNUSED_H_

#include "graph/graph.h"
#include "import/common/evaluator.h"

namespace attune::importing {

// Removes nodes and inputs that were only needed to find shapes: unused nodes, and unused inputs whose
// values were given.
void RemoveUnused(Graph& graph, const Evaluator& evaluator);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_REMOVE_UNUSED_H_

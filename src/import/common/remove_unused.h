// The last step of an import.
#ifndef ATTUNE_IMPORT_COMMON_REMOVE_UNUSED_H_
#define ATTUNE_IMPORT_COMMON_REMOVE_UNUSED_H_

#include "graph/graph.h"
#include "import/common/evaluator.h"

namespace attune::importing {

// Removes what only served to find shapes: nodes that nothing uses, and inputs whose values were given and
// that nothing uses any more.
void RemoveUnused(Graph& graph, const Evaluator& evaluator);

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_REMOVE_UNUSED_H_

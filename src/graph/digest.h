// The identity of a network, whatever its parts are called.
#ifndef ATTUNE_GRAPH_DIGEST_H_
#define ATTUNE_GRAPH_DIGEST_H_

#include <string>

#include "graph/graph.h"

namespace attune {

// A SHA-256, 64 hexadecimal digits, of all that the outputs depend on: operators, attributes, types, the
// bytes of constants, and the order of inputs and outputs. Names, the order of nodes, and nodes that no
// output needs do not matter; neither does whether the same value is computed once or twice. Reads all
// constants once.
std::string GraphDigest(const Graph& graph);

}  // namespace attune

#endif  // ATTUNE_GRAPH_DIGEST_H_

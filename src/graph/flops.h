// How much arithmetic an operator is.
#ifndef ATTUNE_GRAPH_FLOPS_H_
#define ATTUNE_GRAPH_FLOPS_H_

#include <cstdint>

#include "graph/graph.h"

namespace attune {

// Multiply-adds of a contraction as it is defined, whatever algorithm computes it; 0 for other operators.
// Dynamic dimensions are at their bounds.
int64_t CountMultiplyAdds(const Node& node);

// Operations on floats or integers; a multiply-add counts as two.
int64_t CountFlops(const Node& node);

}  // namespace attune

#endif  // ATTUNE_GRAPH_FLOPS_H_

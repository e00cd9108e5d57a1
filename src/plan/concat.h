// Concatenations that copy nothing.
//
// Problem: networks whose blocks end in a concatenation (or, as DenseNet's, begin with one of everything
// before) spend much of their memory traffic on copies. Idea: where the parts of a concatenation lie one
// behind the other in memory, their producers can write into the whole at once. A later concatenation that
// begins with the same parts holds the earlier one as well.
#ifndef ATTUNE_PLAN_CONCAT_H_
#define ATTUNE_PLAN_CONCAT_H_

#include <cstdint>
#include <map>

#include "graph/graph.h"

namespace attune {

// Where a value lies: `offset` bytes into another value of the same graph.
struct Within {
  const Value* whole;
  int64_t offset;
};

// A group that only gives the same bytes another shape.
bool IsView(const Node& fused);

// The check_index that is all of a group, or nullptr. Its output is its input.
const Node* IndexCheckOf(const Node& fused);

using Parts = std::map<const Value*, Within>;

// The values of `graph`, a graph of fused groups with layouts, that lie within others.
Parts PlaceConcatParts(const Graph& graph);

// Whether `fused` only concatenates, and its inputs lie where its output has them.
bool IsConcatInPlace(const Node& fused, const Parts& parts);

}  // namespace attune

#endif  // ATTUNE_PLAN_CONCAT_H_

// The range that an operator allows its indices.
#ifndef ATTUNE_GRAPH_INDEX_BOUNDS_H_
#define ATTUNE_GRAPH_INDEX_BOUNDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"

namespace attune {

struct IndexBounds {
  // The sizes of the indexed axes: one for all indices, or one for each element of their last axis.
  Ints sizes;
  bool negative = true;  // whether negative indices count from the end

  int64_t Size(int64_t flat_position) const {
    return sizes[static_cast<size_t>(flat_position) % sizes.size()];
  }
  int64_t Least(int64_t size) const { return negative ? -size : 0; }
  auto operator<=>(const IndexBounds&) const = default;
};

// The least index and the size of each indexed axis, as i64[2, axes].
Tensor BoundsTable(const IndexBounds& bounds);

// Which input of the node holds indices, and their bounds; nullopt for a node without any. The indexed axes
// of a verified node have constant sizes. Lengths up to that of an axis are indices into one that has one
// element more, and none of them is negative.
struct IndexOperand {
  int input;
  IndexBounds bounds;
};
std::optional<IndexOperand> IndexOperandOf(const Node& node);

// An index out of its bounds.
struct IndexFault {
  int64_t index, size;
};

// The first fault of `indices`, or nullopt.
std::optional<IndexFault> FindIndexFault(const Tensor& indices, const IndexBounds& bounds);

// 'gather "embeddings/word"': who reads the indices, for messages.
std::string IndexReader(std::string_view op, std::string_view node);
// 'reverse_sequence "flip", lengths up to 5': the same for who reads lengths.
std::string LengthReader(std::string_view op, std::string_view node, int64_t most);

}  // namespace attune

#endif  // ATTUNE_GRAPH_INDEX_BOUNDS_H_

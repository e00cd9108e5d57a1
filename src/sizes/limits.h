// The open dimensions that a network's operators allow.
#ifndef ATTUNE_SIZES_LIMITS_H_
#define ATTUNE_SIZES_LIMITS_H_

#include <span>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "sizes/fit.h"

namespace attune {

// Narrows the ranges of sizes to those at which every slice stays inside of its operand, every window of a
// convolution or a pooling has a place, and no dimension is negative: a table of 512 positions bounds a
// sequence from above, a kernel without pads bounds an image from below. `graphs` are the network at the
// points of `open`. Fails with NotSupported, naming the node, where that depends on several dimensions.
absl::Status NarrowSizes(std::span<Graph* const> graphs, OpenSizes& open);

// Whether the dimensions of all values are at `far`, where the last of the graphs is, what they follow at the
// points of `open`, where the others are: a size that is divided by much may look constant there. Fails with
// NotSupported, naming the node.
absl::Status CheckAtFarPoint(std::span<Graph* const> graphs, const OpenSizes& open, const SizePoint& far);

// The same for the dimensions of the outputs alone, at a point where operators may have gone, since they do
// nothing there: at the least sizes, for one.
absl::Status CheckOutputsAt(std::span<Graph* const> graphs, const OpenSizes& open, const Graph& graph,
                            const SizePoint& point);

}  // namespace attune

#endif  // ATTUNE_SIZES_LIMITS_H_

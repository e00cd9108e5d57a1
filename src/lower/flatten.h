// Flattens groups that treat every pixel, or every row, alike.
#ifndef ATTUNE_LOWER_FLATTEN_H_
#define ATTUNE_LOWER_FLATTEN_H_

#include <memory>

#include "graph/graph.h"

namespace attune {

// A pointwise convolution (1×1, stride 1, no padding) and the elementwise operators around it compute the
// same on feature maps of 1 × (H·W) pixels, in the same memory. Then tiles of pixels may cross the ends of
// rows, and more shapes are the same kernel. Likewise, a matrix product with one right operand for a whole
// batch is one product of all the batch's rows. Returns the flattened group; null if the group is neither,
// or is flat already.
std::unique_ptr<Graph> Flatten(const Graph& region);

// The flattened group, or a copy of `region` if it has none: the group that is lowered.
std::unique_ptr<Graph> FlatCopy(const Graph& region);

}  // namespace attune

#endif  // ATTUNE_LOWER_FLATTEN_H_

// Groups that treat every pixel, or every row, alike.
#ifndef ATTUNE_LOWER_FLATTEN_H_
#define ATTUNE_LOWER_FLATTEN_H_

#include <memory>

#include "graph/graph.h"

namespace attune {

// A pointwise convolution (1×1, stride 1, no padding) and the elementwise operators around it compute the
// same on feature maps of 1 × (H·W) pixels, in the same memory: then tiles of pixels need not end at the end
// of a row, and more shapes are the same kernel. So does a matrix product with one right operand for a whole
// batch, as one product of all the batch's rows. Returns that group, or null where it is not one, or is flat
// already.
std::unique_ptr<Graph> Flatten(const Graph& region);

// That group, or a copy of `region` where it has none: what is lowered.
std::unique_ptr<Graph> FlatCopy(const Graph& region);

}  // namespace attune

#endif  // ATTUNE_LOWER_FLATTEN_H_

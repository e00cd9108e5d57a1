// Windows that slide over spatial dimensions: what convolutions and pools share.
#ifndef ATTUNE_GRAPH_OPS_SPATIAL_H_
#define ATTUNE_GRAPH_OPS_SPATIAL_H_

#include "graph/ops/checks.h"

namespace attune::infer {

// A window's parameters, each list one value a spatial dimension (`pads`: all begins, then all ends).
struct Window {
  Ints kernel;
  Ints strides;
  Ints pads;
  Ints dilations;

  size_t rank() const { return kernel.size(); }
  int64_t begin(size_t i) const { return pads[i]; }
  int64_t end(size_t i) const { return pads[i + rank()]; }
  // From the window's first element to its last.
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

// Reads the attributes strides, pads and dilations of a window of the size `kernel`, whose values are at
// least 1.
absl::StatusOr<Window> ReadWindow(const Node& node, Ints kernel);

// How often the window fits along spatial dimension i of `size` elements. With `ceil_mode` also where it
// overhangs the end, as long as it starts before the end pad (as PyTorch does). An error where the window
// is larger than the padded dimension.
absl::StatusOr<int64_t> NumWindows(const Window& window, size_t i, int64_t size, bool ceil_mode = false);

}  // namespace attune::infer

#endif  // ATTUNE_GRAPH_OPS_SPATIAL_H_

// The positions of windows: shared by convolutions, pools and their inverses.
#ifndef ATTUNE_REFERENCE_WINDOW_GEOMETRY_H_
#define ATTUNE_REFERENCE_WINDOW_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "graph/attributes.h"
#include "graph/tensor.h"

namespace attune::reference {

// One entry per spatial axis. Tap k of window o is at position o stride - begin + k dilation.
struct WindowGeometry {
  Shape in;
  Shape kernel;
  Shape strides;
  Shape dilations;
  Shape begins;
  Shape ends;
  Shape out;

  int rank() const { return static_cast<int>(in.size()); }
  int64_t Position(int axis, int64_t o, int64_t k) const {
    return o * strides[axis] - begins[axis] + k * dilations[axis];
  }
};

// Reads strides, pads, dilations and ceil_mode of `attrs`, and counts the windows. With ceil_mode, the last
// window may extend beyond the end padding, but must start within the input or the padding before it.
WindowGeometry ReadWindow(const Attributes& attrs, Shape in, Shape kernel);

// The same for a transposed convolution: here, o stride - begin + k dilation is a position in the output
// that window o of the input writes to. `in` is still what is read and `out` what is written.
WindowGeometry ReadTransposedWindow(const Attributes& attrs, Shape in, Shape kernel);

// The flat input position that each tap of each window reads.
class TapTable {
 public:
  static constexpr int64_t kOutside = -1;

  TapTable(const WindowGeometry& window, bool transposed);

  // sources[p] becomes the flat input position that tap `tap` of output position first + p reads, or
  // kOutside.
  void Sources(int64_t tap, int64_t first, int64_t count, int64_t* sources) const;

 private:
  Shape out_;
  Shape kernel_;
  // For each axis, tap-major: the term that the axis adds to the flat input position, or kOutside.
  std::vector<std::vector<int64_t>> offsets_;
};

// The index of row-major element `flat` of `shape`.
Shape Unflatten(int64_t flat, const Shape& shape);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_WINDOW_GEOMETRY_H_

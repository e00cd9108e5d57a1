// Windows over images, and the order of axes in the canonical operators.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_WINDOW_H_
#define ATTUNE_IMPORT_TFLITE_OPS_WINDOW_H_

#include <cstdint>

#include "import/tflite/op_context.h"

namespace attune::tflite {

// [N, D1, …, C] as [N, C, D1, …], and back.
Value* ChannelsFirst(OpContext& c, Value* x);
Value* ChannelsLast(OpContext& c, Value* x);

// One value per spatial dimension; pads has all begins, then all ends.
struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads = {};
};

// Sets the pads for `padding`, with the window sliding over `sizes`: none for VALID; for SAME, as needed
// for ceil(size / stride) windows, with an odd pad at the end. Checks strides, dilations and kernel.
void SetPads(Window& window, schema::Padding padding, const Ints& sizes);
// The spatial sizes of a tensor with the shape [N, D1, …, C].
Ints SpatialSizes(const Shape& shape);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_WINDOW_H_

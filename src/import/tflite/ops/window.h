// Windows over images, and the order of axes that they have in the canonical operators.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_WINDOW_H_
#define ATTUNE_IMPORT_TFLITE_OPS_WINDOW_H_

#include <cstdint>

#include "import/tflite/op_context.h"

namespace attune::tflite {

// [N, D1, …, C] as [N, C, D1, …], and back.
Value* ChannelsFirst(OpContext& c, Value* x);
Value* ChannelsLast(OpContext& c, Value* x);

// One value a spatial dimension; pads are all begins, then all ends.
struct Window {
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads = {};
};

// Sets the pads as `padding` asks for, where the window slides over `sizes`: VALID none; SAME what
// ceil(size / stride) windows need, an odd one at the end. Checks strides, dilations and kernel.
void SetPads(Window& window, schema::Padding padding, const Ints& sizes);
// The spatial sizes of a tensor of the shape [N, D1, …, C].
Ints SpatialSizes(const Shape& shape);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_WINDOW_H_

// The attributes that convolutions and pools share.
#ifndef ATTUNE_IMPORT_ONNX_OPS_WINDOW_H_
#define ATTUNE_IMPORT_ONNX_OPS_WINDOW_H_

#include "import/onnx/op_context.h"

namespace attune::onnx {

// A window over the spatial dimensions of [N, C, D1, …]; `pads` has all begins, then all ends.
struct WindowAttributes {
  Ints kernel;
  Ints strides;
  Ints pads;
  Ints dilations;
};

// Reads strides, dilations, pads and auto_pad for a tensor of shape `input`; checks `kernel` against the
// attribute kernel_shape, if the operator has it.
WindowAttributes ReadWindow(OpContext& c, const Shape& input, const Ints& kernel);

// The spatial shape of the kernel in input `weight` [M, C/group, K1, …]; kernel_shape may repeat it.
Ints KernelOf(OpContext& c, int weight);

// The same with the kernel from the attribute kernel_shape.
WindowAttributes ReadPoolWindow(OpContext& c, const Shape& input);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OPS_WINDOW_H_

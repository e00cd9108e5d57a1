// The attributes that convolutions and pools share.
#ifndef ATTUNE_IMPORT_ONNX_OPS_WINDOW_H_
#define ATTUNE_IMPORT_ONNX_OPS_WINDOW_H_

#include "import/onnx/op_context.h"

namespace attune::onnx {

// A window over the spatial dimensions of [N, C, D1, …]; `pads` are all begins, then all ends.
struct WindowAttributes {
  Ints kernel;
  Ints strides;
  Ints pads;
  Ints dilations;
};

// Reads strides, dilations, pads and auto_pad for a tensor of shape `input`; `kernel` where the operator has
// kernel_shape as an attribute is checked against it.
WindowAttributes ReadWindow(OpContext& c, const Shape& input, const Ints& kernel);

// The kernel's spatial shape, of input `weight` [M, C/group, K1, …], which kernel_shape may repeat.
Ints KernelOf(OpContext& c, int weight);

// The same with the kernel from the attribute kernel_shape.
WindowAttributes ReadPoolWindow(OpContext& c, const Shape& input);

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_OPS_WINDOW_H_

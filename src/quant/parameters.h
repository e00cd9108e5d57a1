// The numbers of quantization: scales and zero points, and tensors quantized by them.
#ifndef ATTUNE_QUANT_PARAMETERS_H_
#define ATTUNE_QUANT_PARAMETERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "quant/plan.h"

namespace attune::quant {

// u8: x is (q - zero) scale, 0 being the integer `zero`. The scale is a number of f32.
struct ActivationParameters {
  double scale = 1;
  int64_t zero = 0;
};

// Parameters that cover `range` and 0. A range of nothing but 0 has the scale 1.
ActivationParameters ParametersFor(const Range& range);

// i8 without a zero point, symmetric, one scale for each output channel: the largest weight is ±127.
struct QuantizedWeights {
  Tensor integers;            // i8, of the weights' shape
  std::vector<double> scale;  // one a channel, numbers of f32
};

// `axis` counts the channels of `weights`, f32. A channel whose bias has more than 30 bits in steps of its
// scale and the input's gets a coarser one: an i32 is to hold the bias. `bias` is empty, or one number a
// channel. Where `clusters` is not 0 and the weights are many (kLeastClustered), all channels together have
// only so many different integers: those of the least squared error.
QuantizedWeights QuantizeWeights(const Tensor& weights, int axis, std::span<const double> bias,
                                 double input_scale, int clusters = 0);

// The weights that the integers stand for, f32.
Tensor Dequantized(const QuantizedWeights& weights, int axis);

// A tensor of f32 as another float type, and back: what it becomes by being stored so.
Tensor Converted(const Tensor& tensor, DType dtype);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_PARAMETERS_H_

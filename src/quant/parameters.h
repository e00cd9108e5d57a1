// Scales and zero points, and quantized tensors.
#ifndef ATTUNE_QUANT_PARAMETERS_H_
#define ATTUNE_QUANT_PARAMETERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "quant/plan.h"

namespace attune::quant {

// For u8: x is (q - zero) scale, and the integer `zero` represents 0. The scale is representable in f32.
struct ActivationParameters {
  double scale = 1;
  int64_t zero = 0;
};

// Parameters that cover `range` and 0. A range that only contains 0 has the scale 1.
ActivationParameters ParametersFor(const Range& range);

// i8 without a zero point, symmetric, with a scale for each output channel: the largest weight is ±127.
struct QuantizedWeights {
  Tensor integers;            // i8, with the shape of the weights
  std::vector<double> scale;  // per channel; representable in f32
};

// `axis` is the channel axis of `weights`, f32. If the bias of a channel would need more than 30 bits in
// steps of its scale and the input's, the channel gets a coarser scale, so that the bias fits into i32.
// `bias` is empty, or has one number per channel. If `clusters` is not 0 and there are many weights
// (kLeastClustered), all channels together have only this many distinct integers, with the least squared
// error.
QuantizedWeights QuantizeWeights(const Tensor& weights, int axis, std::span<const double> bias,
                                 double input_scale, int clusters = 0);

// The f32 weights that the integers represent.
Tensor Dequantized(const QuantizedWeights& weights, int axis);

// Converts a tensor of f32 to another float type and back, which rounds it as storing would.
Tensor Converted(const Tensor& tensor, DType dtype);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_PARAMETERS_H_

// Products of quantized tensors: sums of integers, scaled to the output's integers in fixed point.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_PRODUCTS_H_
#define ATTUNE_IMPORT_TFLITE_OPS_PRODUCTS_H_

#include <cstdint>

#include "import/tflite/op_context.h"

namespace attune::tflite {

// Which inputs are multiplied, which one is added, and how the kernel of the operator multiplies their
// scales.
struct ProductInputs {
  int x = 0;
  int weight = 1;
  int bias = 2;
  // The two scales are multiplied in f32 and divided by the output's in double; else all in double.
  bool single = false;
};

// Whether both factors are quantized in 8 bits and the output is quantized.
bool IsIntegerProduct(OpContext& c, const ProductInputs& p);

// The zero points of the factors: nullptr for 0, of the weight one for each channel where they differ.
Value* InputZero(OpContext& c, const ProductInputs& p);
Value* WeightZero(OpContext& c, const ProductInputs& p);

// The sum `acc` of products of integers, plus the bias, as the output's integers. `axis` is the channels' in
// acc. The weight's scales are along `weight_axis` of the weight in the file.
Value* FinishIntegerProduct(OpContext& c, Value* acc, const ProductInputs& p, int64_t axis,
                            int64_t weight_axis, Activation activation);

// The bias as floats: one of integers has the scale of the product. Nullptr where there is none.
Value* RealBias(OpContext& c, const ProductInputs& p);

// `x` of rank 1 as a shape that broadcasts along `axis` of a tensor of `rank`.
Value* AlongAxis(OpContext& c, Value* x, int64_t axis, int64_t rank);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_PRODUCTS_H_

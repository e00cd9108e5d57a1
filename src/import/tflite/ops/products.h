// Products of quantized tensors: sums of integers, scaled to the output's integers in fixed point.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_PRODUCTS_H_
#define ATTUNE_IMPORT_TFLITE_OPS_PRODUCTS_H_

#include <cstdint>
#include <functional>

#include "import/tflite/op_context.h"

namespace attune::tflite {

// The indices of the factors and the bias, and how the kernel of the operator multiplies their scales.
struct ProductInputs {
  int x = 0;
  int weight = 1;
  int bias = 2;
  // Whether the two scales are multiplied in f32, and divided by the output's in double; otherwise all is
  // in double.
  bool single = false;
  // Whether sums are scaled in double and rounded once, instead of in fixed point.
  bool in_doubles = false;
};

// Whether both factors are quantized in 8 bits, or also in 16 bits without zero point, and the output is
// quantized.
bool IsIntegerProduct(OpContext& c, const ProductInputs& p);

// The zero points of the factors: nullptr for 0; for the weight, one per channel if they differ.
Value* InputZero(OpContext& c, const ProductInputs& p);
Value* WeightZero(OpContext& c, const ProductInputs& p);

// The sum of products of x and w, which `sum` emits for factors of 8 bits and their zero points. It is i32,
// or i64 if a factor has 16 bits: such a factor is the sum of a high byte, times 256, and a low byte.
using SumOfProducts = std::function<Value*(Value* x, Value* w, Value* x_zero, Value* w_zero)>;
Value* IntegerSum(OpContext& c, Value* x, Value* w, const ProductInputs& p, const SumOfProducts& sum);

// Adds the bias to `acc`, a sum of integer products of i32 or i64, and scales it to the output's integers.
// `axis` is the channel axis of acc; `weight_axis` is the axis of the scales in the file's weight.
Value* FinishIntegerProduct(OpContext& c, Value* acc, const ProductInputs& p, int64_t axis,
                            int64_t weight_axis, Activation activation);

// The bias as floats: an integer bias has the scale of the product. nullptr if there is none.
Value* RealBias(OpContext& c, const ProductInputs& p);

// Reshapes `x` of rank 1 so that it broadcasts along `axis` of a tensor of `rank`.
Value* AlongAxis(OpContext& c, Value* x, int64_t axis, int64_t rank);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_PRODUCTS_H_

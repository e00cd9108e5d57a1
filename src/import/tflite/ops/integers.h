// Integer arithmetic of TensorFlow Lite's reference kernels, as canonical operators and as tables.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_INTEGERS_H_
#define ATTUNE_IMPORT_TFLITE_OPS_INTEGERS_H_

#include <cstdint>
#include <functional>

#include "graph/fixed_point.h"
#include "import/tflite/op_context.h"

namespace attune::tflite {

// Whether the input and the output are quantized with the same type.
bool IsQuantizedUnary(OpContext& c);
// Whether that type has 16 bits and there is no zero point.
bool IsWordUnary(OpContext& c);

// `function` of each integer of an input, which has 8 or 16 bits, by a table that is computed now. The
// results, without the output's zero point, are saturated.
Value* Lookup(OpContext& c, int input, const std::function<int64_t(int64_t)>& function);
// The same for each pair of 8-bit integers of inputs 0 and 1, which broadcast.
Value* LookupPair(OpContext& c, const std::function<int64_t(int64_t, int64_t)>& function);

// Computations in i64. HighProduct returns a b / 2^31, rounded to nearest, ties upwards; RoundedShift
// x / 2^places, rounded half away from zero; Scaled the product with a multiplier, as
// QuantizedMultiplier::Times does, by one whose mantissa may have fewer digits.
Value* Wide(OpContext& c, Value* x);
Value* HighProduct(OpContext& c, Value* a, Value* b);
Value* RoundedShift(OpContext& c, Value* x, Value* places);
Value* Scaled(OpContext& c, Value* x, const QuantizedMultiplier& by);

// Integers without zero point as integers of the output: adds its zero point, saturates and casts.
Value* Saturated(OpContext& c, Value* x);

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_INTEGERS_H_

// Comparisons. Comparisons of bytes compare the numbers that they represent with 8 binary places, as
// TensorFlow Lite's reference kernel does (tensorflow/lite/kernels/internal/reference/comparisons.h): steps
// below 1/256 can be equal.
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

bool IsQuantizedByte(OpContext& c, int i) {
  return c.InQuantized(i) && (c.InType(i) == DType::kI8 || c.InType(i) == DType::kU8);
}

Value* Compared(OpContext& c, Op op) {
  if (!IsQuantizedByte(c, 0) || !IsQuantizedByte(c, 1)) return c.Emit(op, {c.In(0), c.In(1)});
  constexpr double kOne = 1 << 8;
  const auto with_places = [&c](int i) {
    return c.FixedPointTo(c.Mul(c.Centered(i), kOne), {c.InScale(i)}, 0, DType::kI32, 0);
  };
  return c.Emit(op, {with_places(0), with_places(1)});
}

}  // namespace

Outputs Equal(OpContext& c) { return {Compared(c, Op::kEqual)}; }
Outputs NotEqual(OpContext& c) { return {c.Emit(Op::kNot, {Compared(c, Op::kEqual)})}; }
Outputs Less(OpContext& c) { return {Compared(c, Op::kLess)}; }
Outputs LessEqual(OpContext& c) { return {Compared(c, Op::kLessEqual)}; }
Outputs Greater(OpContext& c) { return {Compared(c, Op::kGreater)}; }
Outputs GreaterEqual(OpContext& c) { return {Compared(c, Op::kGreaterEqual)}; }

}  // namespace attune::tflite

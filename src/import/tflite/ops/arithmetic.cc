// Sums, products and quotients, with an optional fused activation.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "import/tflite/ops/fixed_point_functions.h"
#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

bool IsQuantizedBinary(OpContext& c) { return c.InQuantized(0) && c.InQuantized(1) && c.OutQuantized(); }

// Input i in fixed point: in units of `unit` / `one`.
Value* InUnits(OpContext& c, int i, double unit, double one) {
  return c.FixedPointTo(c.Mul(c.Centered(i), one), {c.InScale(i) / unit}, 0, DType::kI32, 0);
}

// a ± b in fixed point: both in units of twice the larger scale, with as many binary digits as fit into
// i32.
Value* QuantizedSum(OpContext& c, Op op) {
  const auto one = static_cast<double>(c.OutType() == DType::kI16 ? 1 << 15 : 1 << 20);
  const double unit = 2 * std::max(c.InScale(0), c.InScale(1));
  Value* sum = c.Emit(op, {InUnits(c, 0, unit, one), InUnits(c, 1, unit, one)});
  return c.FixedPoint(sum, {unit / (one * c.OutScale())});
}

// a / b in fixed point, times a multiplier; anything divided by zero is 0, which no kernel allows.
class Quotient {
 public:
  explicit Quotient(QuantizedMultiplier by) : by_(by) {}

  int64_t Of(int64_t a, int64_t b) const {
    if (b == 0) return 0;
    if (b < 0) a = -a;
    KnownIntegers integers;
    const auto reciprocal = ReciprocalOf(integers, std::abs(b), 0);
    // As many places as leave room for the sign.
    const int headroom = std::countl_zero(static_cast<uint32_t>(a < 0 ? ~a : a)) - 1;
    const int64_t quotient = KnownIntegers::Product(a * (int64_t{1} << headroom), reciprocal.mantissa);
    const int64_t product = KnownIntegers::Product(quotient, by_.mantissa);
    return KnownIntegers::Lowered(product, std::min<int64_t>(reciprocal.shift + headroom - by_.shift, 62));
  }

 private:
  QuantizedMultiplier by_;
};

Outputs SumOrDifference(OpContext& c, Op op, Activation activation) {
  Value* y = IsQuantizedBinary(c) ? QuantizedSum(c, op) : c.Emit(op, {c.Real(0), c.Real(1)});
  return {c.Activate(y, activation)};
}

// floor(a / b), which is exact for integers. LiteRT divides floats in double: in f32, 1 / 0.1f rounds to 10.
Value* FloorQuotient(OpContext& c, Value* a, Value* b) {
  const DType dtype = a->type().dtype;
  if (!IsFloat(dtype)) return c.FloorDiv(a, b);
  return c.Cast(c.Emit(Op::kFloor, {c.Div(c.Cast(a, DType::kF64), c.Cast(b, DType::kF64))}), dtype);
}

DType UnsignedOf(DType dtype) {
  switch (dtype) {
    case DType::kI8:
      return DType::kU8;
    case DType::kI16:
      return DType::kU16;
    case DType::kI32:
      return DType::kU32;
    case DType::kI64:
      return DType::kU64;
    default:
      return dtype;
  }
}

}  // namespace

Outputs Add(OpContext& c) {
  return SumOrDifference(c, Op::kAdd, c.Options<schema::AddOptions>().fused_activation_function());
}

Outputs Sub(OpContext& c) {
  return SumOrDifference(c, Op::kSub, c.Options<schema::SubOptions>().fused_activation_function());
}

// The product of quantized tensors is the product of integers, times s_a s_b / s_y (in f32 unless that
// overflows) in fixed point.
Outputs Mul(OpContext& c) {
  const Activation activation = c.Options<schema::MulOptions>().fused_activation_function();
  if (!IsQuantizedBinary(c)) return {c.Activate(c.Mul(c.Real(0), c.Real(1)), activation)};
  double scale = static_cast<double>(static_cast<float>(c.InScale(0)) * static_cast<float>(c.InScale(1)) /
                                     static_cast<float>(c.OutScale()));
  if (!std::isfinite(scale)) scale = c.InScale(0) * c.InScale(1) / c.OutScale();
  return {c.Activate(c.FixedPoint(c.Mul(c.Centered(0), c.Centered(1)), {scale}), activation)};
}

// The quotient of bytes, of which there are few, is a table.
Outputs Div(OpContext& c) {
  const Activation activation = c.Options<schema::DivOptions>().fused_activation_function();
  const auto is_byte = [&c](int i) { return c.InType(i) == DType::kI8 || c.InType(i) == DType::kU8; };
  if (!IsQuantizedBinary(c) || !is_byte(0) || !is_byte(1))
    return {c.Activate(c.Div(c.Real(0), c.Real(1)), activation)};
  const auto single = [](double scale) { return static_cast<float>(scale); };
  const double ratio =
      static_cast<double>(single(c.InScale(0)) / (single(c.InScale(1)) * single(c.OutScale())));
  const Quotient quotient(QuantizedMultiplier::Of(ratio));
  const int64_t first = c.InZero(0), second = c.InZero(1);
  Value* y = LookupPair(c, [&](int64_t a, int64_t b) { return quotient.Of(a - first, b - second); });
  return {c.Activate(y, activation)};
}

Outputs AddN(OpContext& c) {
  const std::vector<Value*> values = c.AllIn();
  Value* sum = values[0];
  for (size_t i = 1; i < values.size(); ++i) sum = c.Add(sum, values[i]);
  return {sum};
}

// In fixed point, the square of the difference of both in units of twice the larger scale, with 7 binary
// digits.
Outputs SquaredDifference(OpContext& c) {
  if (!IsQuantizedBinary(c)) {
    Value* difference = c.Sub(c.Real(0), c.Real(1));
    return {c.Mul(difference, difference)};
  }
  constexpr double kOne = 1 << 7;
  const double unit = 2 * std::max(c.InScale(0), c.InScale(1));
  Value* difference = c.Sub(InUnits(c, 0, unit, kOne), InUnits(c, 1, unit, kOne));
  return {c.FixedPoint(c.Mul(difference, difference), {unit * unit / (kOne * kOne * c.OutScale())})};
}

Outputs FloorDivide(OpContext& c) { return {FloorQuotient(c, c.In(0), c.In(1))}; }

// The angle of (x, y) from its tangent; the signs determine the quadrant.
Outputs Atan2(OpContext& c) {
  Value* y = c.In(0);
  Value* x = c.In(1);
  Value* zero = c.ScalarLike(x, 0);
  const auto less = [&c](Value* a, Value* b) { return c.Emit(Op::kLess, {a, b}); };
  Value* turn = c.Where(less(y, zero), c.ScalarLike(x, -std::numbers::pi), c.ScalarLike(x, std::numbers::pi));
  Value* angle = c.Emit(Op::kAtan, {c.Div(y, x)});
  Value* result = c.Where(less(x, zero), c.Add(angle, turn), angle);
  // If x = 0, the tangent is undefined.
  Value* upright = c.Mul(c.Emit(Op::kSign, {y}), std::numbers::pi / 2);
  return {c.Where(c.Emit(Op::kEqual, {x, zero}), upright, result)};
}

// Arithmetic shift: for a negative number, shifts its complement and complements the result.
Outputs RightShift(OpContext& c) {
  Value* x = c.Stored(0);
  const DType dtype = x->type().dtype;
  const DType bits = UnsignedOf(dtype);
  const auto shift = [&](Value* value) {
    return c.Cast(c.Emit(Op::kShiftRight, {c.Cast(value, bits), c.Cast(c.Stored(1), bits)}), dtype);
  };
  if (bits == dtype) return {shift(x)};
  const auto complement = [&c](Value* value) { return c.Emit(Op::kNot, {value}); };
  Value* negative = c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)});
  Value* shifted = shift(c.Where(negative, complement(x), x));
  return {c.Where(negative, complement(shifted), shifted)};
}

}  // namespace attune::tflite

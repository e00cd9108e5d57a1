// Functions of real numbers in fixed point, step by step as in gemmlowp's fixedpoint.h and in TensorFlow
// Lite's common.h, which TensorFlow Lite's reference kernels call. A number of kind Fn is an integer of 32
// bits in units of 2^(n - 31).
//
// The arithmetic is a parameter, so that each function can be evaluated for a table, and be lowered to
// operators.
#ifndef ATTUNE_IMPORT_TFLITE_OPS_FIXED_POINT_FUNCTIONS_H_
#define ATTUNE_IMPORT_TFLITE_OPS_FIXED_POINT_FUNCTIONS_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "import/tflite/ops/integers.h"

namespace attune::tflite {

// Arithmetic with integers that are known.
class KnownIntegers {
 public:
  using Number = int64_t;

  static int64_t Of(int64_t number) { return number; }
  static int64_t Add(int64_t a, int64_t b) { return a + b; }
  static int64_t Sub(int64_t a, int64_t b) { return a - b; }
  // a b / 2^31, rounded to nearest, ties upwards: the product of Fm and Fn is F(m + n).
  static int64_t Product(int64_t a, int64_t b) { return (a * b + (int64_t{1} << 30)) >> 31; }
  // x 2^places and x / 2^places: the first saturates at 32 bits, the second rounds half away from zero.
  static int64_t Raised(int64_t x, int places) {
    return std::clamp<int64_t>(x * (int64_t{1} << places), INT32_MIN, INT32_MAX);
  }
  static int64_t Lowered(int64_t x, int64_t places) {
    if (places == 0) return x;
    return (x + (int64_t{1} << (places - 1)) - (x < 0 ? 1 : 0)) >> places;
  }
  static int64_t ShiftedLeft(int64_t x, int64_t places) { return x * (int64_t{1} << places); }
  static int64_t ShiftedRight(int64_t x, int64_t places) { return x >> places; }
  static int64_t Least(int64_t a, int64_t b) { return std::min(a, b); }
  static int64_t Greatest(int64_t a, int64_t b) { return std::max(a, b); }
  // The number of binary digits of x, which is in [1, 2^31) and not below 2^least.
  static int64_t Digits(int64_t x, int) { return std::bit_width(static_cast<uint64_t>(x)); }
};

// The same as operators of i64.
class EmittedIntegers {
 public:
  using Number = Value*;

  explicit EmittedIntegers(OpContext& c) : c_(c) {}

  Value* Of(int64_t number) { return c_.Scalar(DType::kI64, static_cast<double>(number)); }
  Value* Add(Value* a, Value* b) { return c_.Add(a, b); }
  Value* Sub(Value* a, Value* b) { return c_.Sub(a, b); }
  Value* Product(Value* a, Value* b) { return HighProduct(c_, a, b); }
  Value* Raised(Value* x, int places) {
    return c_.Clip(c_.Mul(x, static_cast<double>(int64_t{1} << places)), INT32_MIN, INT32_MAX);
  }
  Value* Lowered(Value* x, Value* places) { return RoundedShift(c_, x, places); }
  Value* ShiftedLeft(Value* x, Value* places) {
    Value* shifted = c_.Emit(Op::kShiftLeft, {c_.Cast(x, DType::kU64), c_.Cast(places, DType::kU64)});
    return c_.Cast(shifted, DType::kI64);
  }
  Value* ShiftedRight(Value* x, Value* places) { return c_.Emit(Op::kShiftRight, {x, places}); }
  Value* Least(Value* a, Value* b) { return c_.Min(a, b); }
  Value* Greatest(Value* a, Value* b) { return c_.Max(a, b); }
  Value* Digits(Value* x, int least) {
    Value* digits = Of(least);
    for (int place = least; place < 31; ++place) {
      Value* reaches = c_.Emit(Op::kGreaterEqual, {x, Of(int64_t{1} << place)});
      digits = c_.Add(digits, c_.Cast(reaches, DType::kI64));
    }
    return digits;
  }

 private:
  OpContext& c_;
};

// exp(x) of F0, for x of F5 that is 0 or less.
inline int64_t ExpOfNegative(int64_t x) {
  using I = KnownIntegers;
  constexpr int64_t kQuarter = int64_t{1} << 24;
  if (x == 0) return INT32_MAX;
  const int64_t rest = (x & (kQuarter - 1)) - kQuarter;  // in [-1/4, 0)
  // The Taylor series around -1/8.
  constexpr int64_t kExpOfEighth = 1895147668, kThird = 715827883;
  const int64_t y = I::Raised(rest, 5) + (int64_t{1} << 28);
  const int64_t y2 = I::Product(y, y), y3 = I::Product(y2, y), y4 = I::Product(y2, y2);
  const int64_t higher = I::Lowered(I::Product(I::Lowered(y4, 2) + y3, kThird) + y2, 1);
  int64_t result = kExpOfEighth + I::Product(kExpOfEighth, y + higher);
  // exp(-1/4), exp(-1/2), …, exp(-16).
  constexpr int64_t kPowers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  int64_t digit = kQuarter;
  for (const int64_t power : kPowers) {
    if (((rest - x) & digit) != 0) result = I::Product(result, power);
    digit *= 2;
  }
  return result;
}

// A number as mantissa (F0) and the number of binary places before its point.
template <typename Number>
struct Scaling {
  Number mantissa;
  Number shift;
};

// 1 / (1 + x) of F0, for x of F0 in [0, 1), by Newton's method.
template <typename Integers>
typename Integers::Number ReciprocalOfOneAnd(Integers& i, typename Integers::Number x) {
  constexpr int64_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540, kOneOfF2 = int64_t{1} << 29;
  const auto half = i.ShiftedRight(i.Add(x, i.Of(int64_t{1} << 31)), i.Of(1));
  auto y = i.Add(i.Of(k48Over17), i.Product(half, i.Of(kMinus32Over17)));
  for (int step = 0; step < 3; ++step) {
    const auto error = i.Sub(i.Of(kOneOfF2), i.Product(half, y));
    y = i.Add(y, i.Raised(i.Product(y, error), 2));
  }
  return i.Raised(y, 1);
}

// The reciprocal of an integer x that is not below 2^least, in units of 1 / 2^31: mantissa 2^-shift is 2^31 /
// x.
template <typename Integers>
Scaling<typename Integers::Number> ReciprocalOf(Integers& i, typename Integers::Number x, int least) {
  const auto digits = i.Digits(x, least);
  // x is (1 + fraction) 2^(digits - 1).
  const auto fraction = i.Sub(i.ShiftedLeft(x, i.Sub(i.Of(32), digits)), i.Of(int64_t{1} << 31));
  return {ReciprocalOfOneAnd(i, fraction), i.Sub(digits, i.Of(1))};
}

// log(x) of F5, for x of F12 that is 1 or more: of the two ways to move x to [1/2, 1) by a power of two, once
// times the root of 1/2, the better one; then a quotient of polynomials.
template <typename Integers>
typename Integers::Number LogOf(Integers& i, typename Integers::Number x) {
  constexpr int kInputPlaces = 12, kSumPlaces = 25, kLeast = 31 - kInputPlaces;
  constexpr int64_t kLog2 = 1488522236, kFourthRootOfHalf = 1805811301, kRootOfHalf = 1518500250;
  constexpr int64_t kAlphaN = 117049297, kAlphaD = 127690142, kAlphaI = 1057819769, kAlphaF = 638450708;
  const auto quarter = i.Of(int64_t{1} << 23);
  const auto product = [&i](auto a, int64_t b) { return i.Product(a, i.Of(b)); };
  const auto spare = i.Sub(i.Of(31), i.Digits(x, kLeast));
  const auto r_a = i.Raised(product(i.ShiftedLeft(x, spare), kRootOfHalf), 1);
  const auto power_a = i.Add(i.Raised(i.Sub(i.Of(kInputPlaces - 1), spare), kSumPlaces), quarter);
  const auto spare_b = i.Sub(i.Of(31), i.Digits(product(x, kRootOfHalf), kLeast - 1));
  const auto r_b = i.Raised(i.ShiftedLeft(x, spare_b), 0);
  const auto power_b = i.Sub(i.Raised(i.Sub(i.Of(kInputPlaces), spare_b), kSumPlaces), quarter);
  const auto r = i.Least(r_a, r_b), power = i.Greatest(power_a, power_b);
  const auto p = i.ShiftedRight(i.Add(r, i.Of(kFourthRootOfHalf + 1)), i.Of(1));
  const auto half_q = i.Sub(r, i.Of(kFourthRootOfHalf)), q = i.Add(half_q, half_q);
  const auto q2 = i.Product(q, q);
  const auto numerator = i.Add(i.Product(q, r), product(i.Product(q, q2), kAlphaN));
  const auto inner = i.Add(i.Add(i.Of(kAlphaI), q), product(q2, kAlphaD));
  const auto denominator = i.Add(i.Product(p, inner), product(q, kAlphaF));
  const auto quotient = i.Product(i.Lowered(numerator, i.Of(6)), ReciprocalOfOneAnd(i, denominator));
  return i.Raised(i.Add(product(power, kLog2), quotient), 1);
}

// 1 / sqrt(x) of an integer x from 2 to 2^29 - 1 as mantissa 2^-(31 + shift).
template <typename Integers>
Scaling<typename Integers::Number> ReciprocalRootOf(Integers& i, typename Integers::Number x) {
  // Moves x to F3 in [1/4, 1) by pairs of places.
  const auto pairs = i.Sub(i.ShiftedRight(i.Sub(i.Of(31), i.Digits(x, 1)), i.Of(1)), i.Of(1));
  const auto input = i.ShiftedRight(i.ShiftedLeft(x, i.Add(pairs, pairs)), i.Of(1));
  const auto half = i.Lowered(input, i.Of(1));
  constexpr int64_t kOneOfF3 = int64_t{1} << 28, kRootOfHalf = 1518500250;
  auto y = i.Of(kOneOfF3);
  for (int step = 0; step < 5; ++step) {
    const auto cube = i.Raised(i.Product(i.Product(y, y), y), 6);
    y = i.Raised(i.Sub(i.Product(i.Of(kOneOfF3 + kOneOfF3 / 2), y), i.Product(half, cube)), 3);
  }
  return {i.Product(y, i.Of(kRootOfHalf)), i.Sub(i.Of(11), pairs)};
}

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_OPS_FIXED_POINT_FUNCTIONS_H_

// Normalizations along the last axis. Normalizations of 8-bit integers are the arithmetic of TensorFlow
// Lite's reference kernels (tensorflow/lite/kernels/internal/reference/softmax.h and l2normalization.h), and
// so is the softmax of 16-bit integers; sums are functions of rows, and exponentials come from tables.
#include <algorithm>
#include <cmath>
#include <functional>

#include "import/tflite/ops/fixed_point_functions.h"
#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/interpolation.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

int64_t LastAxis(OpContext& c) { return Emitter::Axis(-1, c.InRank(0)); }

bool IsByteNormalization(OpContext& c) {
  return IsQuantizedUnary(c) && (c.InType(0) == DType::kI8 || c.InType(0) == DType::kU8);
}

// How far each element is below the greatest one of its row, as i32. The bounds say that it is an index of a
// table.
Value* BelowGreatest(OpContext& c) {
  Value* x = c.Cast(c.Stored(0), DType::kI32);
  const IntegerRange range = RangeOf(c.InType(0));
  Value* below = c.Sub(c.Reduce(Op::kReduceMax, x, {LastAxis(c)}), x);
  return c.Clip(below, 0, static_cast<double>(range.max - range.min));
}

// The range of 16-bit integers that represent numbers from -1 to 1.
Interpolation<double>::Range UnitRange() { return {-32768 * (2.0 / 65535.0), 32767 * (2.0 / 65535.0)}; }

// Functions of how far a byte is below another one, for exponentials of their difference times `scale`.
class ByteExponentials {
 public:
  explicit ByteExponentials(double scale)
      : by_(QuantizedMultiplier::Of(std::min(scale * 0x1p26, 0x1p31 - 1))),
        least_(static_cast<int64_t>(std::floor(31 * 0x1p26 / std::ldexp(1, by_.shift)))) {}

  // The factor of the difference, whose product has 26 binary places.
  const QuantizedMultiplier& multiplier() const { return by_; }
  // Up to where a byte counts in a sum of exponentials.
  int64_t least() const { return least_; }
  // The product, the exponential with 31 binary places, and with 19, for sums.
  int64_t Difference(int64_t below) const { return by_.Times(-below); }
  int64_t Exp(int64_t below) const { return below <= least_ ? ExpOfNegative(Difference(below)) : 0; }
  int64_t Term(int64_t below) const { return KnownIntegers::Lowered(Exp(below), kSumPlaces); }

  static constexpr int kSumPlaces = 12;

 private:
  QuantizedMultiplier by_;
  int64_t least_;
};

// A function of the differences of two bytes.
Value* LookUpDifference(OpContext& c, Value* below, const std::function<int64_t(int64_t)>& function) {
  constexpr int64_t kDifferences = 256;
  Ints table;
  for (int64_t i = 0; i < kDifferences; ++i) table.push_back(function(i));
  return c.Gather(c.NewConstant(Tensor::FromInts(table, DType::kI32)), below, 0);
}

// The sum of a row's exponentials, as i64 with 19 binary places.
Value* SumOfExponentials(OpContext& c, const ByteExponentials& exps, Value* below) {
  Value* terms = LookUpDifference(c, below, [&](int64_t i) { return exps.Term(i); });
  return Wide(c, c.Reduce(Op::kReduceSum, terms, {LastAxis(c)}));
}

Value* ByteSoftmax(OpContext& c, double beta) {
  const ByteExponentials exps(beta * c.InScale(0));
  Value* below = BelowGreatest(c);
  EmittedIntegers integers(c);
  const auto reciprocal =
      ReciprocalOf(integers, SumOfExponentials(c, exps, below), 31 - ByteExponentials::kSumPlaces);
  Value* exp = LookUpDifference(c, below, [&](int64_t i) { return exps.Exp(i); });
  return Saturated(c, RoundedShift(c, HighProduct(c, reciprocal.mantissa, exp), c.Add(reciprocal.shift, 4)));
}

// x - log(sum of exponentials), both with 26 binary places and then with 4; what is too far below the
// greatest element for a difference of 31 bits gets the least result.
Value* ByteLogSoftmax(OpContext& c) {
  constexpr int kResultPlaces = 22;
  const ByteExponentials exps(c.InScale(0));
  Value* below = BelowGreatest(c);
  EmittedIntegers i(c);
  Value* log = LogOf(i, SumOfExponentials(c, exps, below));
  const QuantizedMultiplier by = exps.multiplier();
  const QuantizedMultiplier back =
      QuantizedMultiplier::Of(std::ldexp(1, 31 - by.shift) / static_cast<double>(by.mantissa));
  Value* farthest = c.Max(Scaled(c, c.Add(log, -0x1p31), back), i.Of(-exps.least() - 1));
  Value* is_near = c.Emit(Op::kGreater, {c.Sub(i.Of(0), Wide(c, below)), farthest});
  Value* difference =
      c.Sub(Wide(c, LookUpDifference(c, below, [&](int64_t x) { return exps.Difference(x); })), log);
  Value* result = RoundedShift(c, difference, i.Of(kResultPlaces));
  return Saturated(c, c.Where(is_near, result, i.Of(INT16_MIN)));
}

// Computes softmax of 16 bits: exponentials with 15 binary places from a table of [-10, 0], and the
// reciprocal of their sum from a table of [1, 2].
Value* WordSoftmax(OpContext& c, float beta) {
  constexpr double kUnit = 10.0 / 65535.0;
  const Interpolation<double> exp([](double x) { return std::exp(x); }, {-65535 * kUnit, 0}, UnitRange());
  const Interpolation<double> reciprocal([](double x) { return 1 / (1 + x); }, {0, 1}, UnitRange());
  const QuantizedMultiplier by =
      QuantizedMultiplier::Of(static_cast<double>(static_cast<float>(c.InScale(0)) * beta) / kUnit);
  Tensor exps = c.NewTable(DType::kI32, {1 << 16}), reciprocals = c.NewTable(DType::kI32, {1 << 16});
  for (int64_t below = 0; below < 1 << 16; ++below) {
    exps.SetInt(below, exp[std::clamp<int64_t>(INT16_MAX + by.Times(-below), INT16_MIN, INT16_MAX)]);
    reciprocals.SetInt(below, reciprocal[below + INT16_MIN]);
  }
  Value* terms = c.Gather(c.Constant(std::move(exps)), BelowGreatest(c), 0);
  Value* sum = Wide(c, c.Reduce(Op::kReduceSum, terms, {LastAxis(c)}));
  EmittedIntegers i(c);
  // The sum is (1 + fraction) 2^(digits - 1); the fraction gets 16 places.
  Value* digits = i.Digits(sum, 14);
  Value* normal = i.ShiftedLeft(sum, c.Sub(i.Of(31), digits));
  Value* fraction = c.Sub(i.ShiftedRight(c.Add(normal, 1 << 13), i.Of(14)), i.Of(1 << 16));
  fraction = c.Cast(c.Clip(fraction, 0, UINT16_MAX), DType::kI32);
  Value* factor = Wide(c, c.Gather(c.Constant(std::move(reciprocals)), fraction, 0));
  Value* places = c.Sub(digits, i.Of(1));
  Value* half = i.ShiftedLeft(i.Of(1), c.Sub(places, i.Of(1)));
  return Saturated(c, i.ShiftedRight(c.Add(c.Mul(Wide(c, terms), factor), half), places));
}

// x / |x| with 7 binary places. An input of zeros has the norm 1.
Value* ByteL2Normalization(OpContext& c) {
  Value* x = Wide(c, c.Centered(0));
  EmittedIntegers i(c);
  Value* squares = c.Reduce(Op::kReduceSum, c.Mul(x, x), {LastAxis(c)});
  const auto root = ReciprocalRootOf(i, c.Clip(squares, 2, INT32_MAX));
  Value* is_one = c.Emit(Op::kLess, {squares, i.Of(2)});
  Value* zero = i.Of(0);
  Value* raised = c.Max(c.Sub(zero, root.shift), zero);
  Value* mantissa = c.Where(is_one, i.Of(INT32_MAX), i.ShiftedLeft(root.mantissa, raised));
  Value* shift = c.Where(is_one, zero, c.Max(root.shift, zero));
  constexpr int kPlaces = 7;
  if (c.InType(0) == DType::kU8) {
    return Saturated(c, RoundedShift(c, HighProduct(c, c.Mul(x, 1 << kPlaces), mantissa), shift));
  }
  shift = c.Sub(shift, i.Of(kPlaces));
  Value* left = i.ShiftedLeft(x, c.Max(c.Sub(zero, shift), zero));
  return Saturated(c, RoundedShift(c, HighProduct(c, left, mantissa), c.Max(shift, zero)));
}

}  // namespace

Outputs Softmax(OpContext& c) {
  const double beta = static_cast<double>(c.Options<schema::SoftmaxOptions>().beta());
  if (IsByteNormalization(c)) return {ByteSoftmax(c, beta)};
  if (IsWordUnary(c)) return {WordSoftmax(c, static_cast<float>(beta))};
  return {c.Emit(Op::kSoftmax, {c.Mul(c.Real(0), beta)}, {{"axis", LastAxis(c)}})};
}

Outputs LogSoftmax(OpContext& c) {
  if (IsByteNormalization(c)) return {ByteLogSoftmax(c)};
  return {c.Emit(Op::kLogSoftmax, {c.Real(0)}, {{"axis", LastAxis(c)}})};
}

// x / max(|x|, 1e-6)
Outputs L2Normalization(OpContext& c) {
  if (IsByteNormalization(c)) return {ByteL2Normalization(c)};
  Value* x = c.Real(0);
  Value* squares = c.Reduce(Op::kReduceSum, c.Mul(x, x), {LastAxis(c)});
  Value* norm = c.Emit(Op::kSqrt, {squares});
  return {c.Div(x, c.Max(norm, c.ScalarLike(norm, 1e-6)))};
}

}  // namespace attune::tflite

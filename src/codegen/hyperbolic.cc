// Hyperbolic functions and their inverses in f64, on top of exp and log.
#include <limits>

#include "codegen/elementary.h"

namespace attune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLn2 = 0.6931471805599453;
// Beyond this, x² + 1 is x² and its root x.
constexpr double kLarge = 0x1p28;

// log(1 + u): the logarithm of the rounded sum, corrected for what rounding lost (fdlibm).
RealValue Log1Plus(RealValue u) {
  const RealValue sum = u + 1;
  const RealValue lost = (u - (sum - 1)) / sum;
  const LaneTruth exact = sum == 0.0 || sum == kInfinity;
  return Log(sum) + Where(exact, 0, lost);
}

}  // namespace

// e^|x| / 2 - e^-|x| / 2; the half goes into the exponent, so that only a result that is too large overflows.
RealValue Sinh(RealValue x) {
  const RealValue size = Abs(x);
  const RealValue half_exp = Exp(size - kLn2);
  const RealValue minus1 = ExpMinus1(Clamp(size, 0, 1));
  const RealValue small = (minus1 + minus1 / (minus1 + 1)) * 0.5;
  return CopySign(Where(size < 1.0, small, half_exp - 0.25 / half_exp), x);
}

RealValue Cosh(RealValue x) {
  const RealValue half_exp = Exp(Abs(x) - kLn2);
  return half_exp + 0.25 / half_exp;
}

// log(|x| + √(x² + 1)), written so that small arguments keep their digits.
RealValue Asinh(RealValue x) {
  const RealValue size = Abs(x);
  const RealValue square = size * size;
  const RealValue small = Log1Plus(size + square / (Sqrt(square + 1) + 1));
  return CopySign(Where(size > kLarge, Log(size) + kLn2, small), x);
}

// log(x + √(x² - 1)) with t = x - 1; NaN below 1.
RealValue Acosh(RealValue x) {
  const RealValue t = x - 1;
  const RealValue small = Log1Plus(t + Sqrt(t * (t + 2)));
  return Where(x < 1.0, kNan, Where(x > kLarge, Log(x) + kLn2, small));
}

// ½ log((1 + x) / (1 - x))
RealValue Atanh(RealValue x) {
  const RealValue size = Abs(x);
  return CopySign(Log1Plus(size * 2 / (1 - size)) * 0.5, x);
}

}  // namespace attune

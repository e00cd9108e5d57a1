// pow in f64.
//
// Problem: |x|^y = e^(y log |x|), and exp turns the absolute error of its argument, up to 709 times that of
// the logarithm, into a relative one. Idea: logarithm and product are kept as sums of two numbers.
#include <limits>

#include "codegen/elementary.h"

namespace attune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Beyond this, e^x is 0 or infinite whatever x's last digits are.
constexpr double kExpLimit = 1024;

// x^y from |x|^y, with the cases that IEEE 754 sets otherwise. exp and log give all infinities and zeros
// but a few as it demands.
RealValue WithSpecialCases(RealValue x, RealValue y, RealValue power) {
  const RealValue size = Abs(x);
  const RealValue magnitude = Where(size == 1.0 && Abs(y) == kInfinity, 1, power);
  const LaneTruth integer = Truncate(y) == y;
  const LaneTruth odd = integer && !(Truncate(y * 0.5) == y * 0.5);
  const LaneTruth negative = CopySign(x.Number(1), x) < 0.0;
  const RealValue result = Where(negative && odd, -magnitude, magnitude);
  const LaneTruth undefined = x < 0.0 && size < kInfinity && !integer && y == y;
  return Where(y == 0.0 || x == 1.0, 1, Where(undefined, kNan, result));
}

}  // namespace

RealValue Pow(RealValue x, RealValue y) {
  const RealPair log = LogExtended(Abs(x));
  const RealValue product = y * log.high;
  const RealValue lost = Fma(y, log.low, Fma(y, log.high, -product));
  return WithSpecialCases(x, y, ExpExtended({product, Where(Abs(product) < kExpLimit, lost, y.Number(0))}));
}

RealValue PowForF32(RealValue x, RealValue y) { return WithSpecialCases(x, y, Exp(y * Log(Abs(x)))); }

}  // namespace attune

// sin, cos, tan and their inverses in f64.
#include <array>
#include <limits>

#include "codegen/elementary.h"
#include "codegen/math_coefficients.h"

namespace attune {
namespace {

constexpr double kPi = 3.141592653589793;
// π less kPi.
constexpr double kPiLow = 1.2246467991473532e-16;

// π/2 in three parts of 53 bits (W. Cody and W. Waite, Software Manual for the Elementary Functions, 1980;
// with fused multiply-adds each part may be a full number).
constexpr std::array<double, 3> kHalfPi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                           -0x1.f1976b7ed8fbcp-110};

// x = (4 k + quadrant) π/2 + r, with sin r and cos r.
struct Reduced {
  RealValue quadrant;  // 0, 1, 2 or 3
  RealValue sin, cos;
};

// Up to here n is exact, and so is x less n times the first part of π/2.
constexpr double kLarge = 0x1p50;

// Infinity gives NaN.
Reduced Reduce(RealValue x) {
  const RealValue n = RoundToEven(x * (2 / kPi));
  RealValue rest = x;
  for (const double part : kHalfPi) rest = Fma(n, -part, rest);
  const LaneTruth large = Abs(x) > kLarge && Abs(x) < x.Number(std::numeric_limits<double>::infinity());
  const auto [quadrant, r] =
      ReduceLargeAngles(x, large, {n - (n * 0.25).Call(llvm::Intrinsic::floor) * 4, rest});
  const RealValue z = r * r;
  const RealValue sin = Fma(z * r, Polynomial(z, kSin), r);
  const RealValue cos = Fma(z * z, Polynomial(z, kCos), 1 - z * 0.5);
  return {quadrant, sin, cos};
}

// sin of `quadrant` right angles more than the reduced argument.
RealValue SinOf(const Reduced& reduced, RealValue quadrant) {
  const LaneTruth odd = quadrant == 1.0 || quadrant == 3.0;
  const RealValue value = Where(odd, reduced.cos, reduced.sin);
  return Where(quadrant > 1.5, -value, value);
}

// (asin x - x) for |x| <= 1/2.
RealValue AsinRest(RealValue x) {
  const RealValue z = x * x;
  return z * x * Polynomial(z, kAsin);
}

// Where |x| is at most 1/2, asin of `small`; where it is larger, asin √((1 - |x|) / 2).
struct ReducedAsin {
  LaneTruth is_large;
  RealValue value;
};
ReducedAsin ReduceAsin(RealValue size, RealValue small) {
  const RealValue root = Sqrt((1 - size) * 0.5);
  const LaneTruth is_large = size > 0.5;
  const RealValue argument = Where(is_large, root, small);
  return {is_large, argument + AsinRest(argument)};
}

}  // namespace

// A zero keeps its sign, which the reduction loses.
RealValue Sin(RealValue x) {
  const Reduced reduced = Reduce(x);
  return Where(x == 0.0, x, SinOf(reduced, reduced.quadrant));
}

RealValue Cos(RealValue x) {
  const Reduced reduced = Reduce(x);
  const RealValue next = reduced.quadrant + 1;
  return SinOf(reduced, Where(next > 3.5, 0, next));
}

RealValue Tan(RealValue x) {
  const Reduced reduced = Reduce(x);
  const LaneTruth odd = reduced.quadrant == 1.0 || reduced.quadrant == 3.0;
  const RealValue value = Where(odd, -reduced.cos, reduced.sin) / Where(odd, reduced.sin, reduced.cos);
  return Where(x == 0.0, x, value);
}

// Beyond 1/2: asin x = π/2 - 2 asin √((1 - x) / 2).
RealValue Asin(RealValue x) {
  const RealValue size = Abs(x);
  const auto [large, value] = ReduceAsin(size, size);
  return CopySign(Where(large, kPi / 2 - (value * 2 - kPiLow / 2), value), x);
}

// From asin, but without cancellation where the result is small: near 1, acos x = 2 asin √((1 - x) / 2).
RealValue Acos(RealValue x) {
  const auto [large, value] = ReduceAsin(Abs(x), x);
  const RealValue far = Where(x < 0.0, kPi - (value * 2 - kPiLow), value * 2);
  return Where(large, far, kPi / 2 - (value - kPiLow / 2));
}

// Reduced to |t| <= tan(π/8) by t = -1/x beyond tan(3π/8) and t = (x - 1) / (x + 1) between (Cephes).
RealValue Atan(RealValue x) {
  const RealValue size = Abs(x);
  const LaneTruth large = size > 2.414213562373095, middle = size > 0.41421356237309503;
  const RealValue numerator = Where(large, -1, Where(middle, size - 1, size));
  const RealValue denominator = Where(large, size, Where(middle, size + 1, x.Number(1)));
  const RealValue t = numerator / denominator;
  const RealValue z = t * t;
  const RealValue value = Fma(z * t, Polynomial(z, kAtan), t);
  const RealValue base = Where(large, kPi / 2, Where(middle, x.Number(kPi / 4), x.Number(0)));
  const RealValue low = Where(large, kPiLow / 2, Where(middle, x.Number(kPiLow / 4), x.Number(0)));
  return CopySign(base + (value + low), x);
}

}  // namespace attune

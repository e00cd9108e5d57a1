// The formulas behind math.h. Those of one argument take f32 or f64 where said, else f64 alone; all are
// straight-line code that treats infinities, NaN and subnormal numbers as IEEE 754 asks.
#ifndef ATTUNE_CODEGEN_ELEMENTARY_H_
#define ATTUNE_CODEGEN_ELEMENTARY_H_

#include "codegen/real.h"

namespace attune {

// f32 or f64. elementary.cc
RealValue Exp(RealValue x);
RealValue Log(RealValue x);
RealValue Tanh(RealValue x);
RealValue Sigmoid(RealValue x);
RealValue Silu(RealValue x);  // x sigmoid(x), and -0 for -infinity
RealValue Erf(RealValue x);

// f64. trigonometric.cc
RealValue Sin(RealValue x);
RealValue Cos(RealValue x);
RealValue Tan(RealValue x);
RealValue Asin(RealValue x);
RealValue Acos(RealValue x);
RealValue Atan(RealValue x);

// f64. hyperbolic.cc
RealValue Sinh(RealValue x);
RealValue Cosh(RealValue x);
RealValue Asinh(RealValue x);
RealValue Acosh(RealValue x);
RealValue Atanh(RealValue x);

// f64. IEEE 754's pow, to a unit in the last place, and to 2^-40, which is enough for results in f32.
// power.cc
RealValue Pow(RealValue x, RealValue y);
RealValue PowForF32(RealValue x, RealValue y);

// The sum of two f64, of which the second is small against the first's last place.
struct RealPair {
  RealValue high, low;
};
// log x to 2^-64 of it, and e^(x.high + x.low) to a unit in the last place, f64. elementary.cc
RealPair LogExtended(RealValue x);
RealValue ExpExtended(RealPair x);

// e^x - 1 to full relative accuracy, f32 or f64, for |x| < 60; gives NaN for NaN. elementary.cc
RealValue ExpMinus1(RealValue x);

// These have loops: they add blocks to the function at the builder's insertion point. loops.cc

// f64. C's fmod, which is exact.
RealValue Fmod(RealValue x, RealValue y);
// The angles of `lanes` only, which are finite and of 1 or more, in right angles and what is left, f64; those
// of the others stay.
struct Angle {
  RealValue quadrant;  // 0, 1, 2 or 3
  RealValue rest;      // between -π/4 and π/4, to 2^-51 of it
};
Angle ReduceLargeAngles(RealValue x, LaneTruth lanes, Angle others);
// Scalars.
llvm::Value* IntegerPowLoop(ValueBuilder* values, bool is_signed, llvm::Value* x, llvm::Value* y);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_ELEMENTARY_H_

// The formulas behind math.h. A formula of one argument takes f32 or f64 where its comment says so, else
// only f64. All but those with loops are straight-line code. They treat infinities, NaN and subnormal
// numbers as IEEE 754 demands, but e^x in f32 is 0 where it would be below 2^-125.
#ifndef ATTUNE_CODEGEN_ELEMENTARY_H_
#define ATTUNE_CODEGEN_ELEMENTARY_H_

#include "codegen/real.h"

namespace attune {

using Formula = RealValue(RealValue x);

// f32 or f64; Silu is x sigmoid(x), and -0 for -infinity. elementary.cc
Formula Exp, Log, Tanh, Sigmoid, Silu, Erf;

// f64. trigonometric.cc
Formula Sin, Cos, Tan, Asin, Acos, Atan;

// f64. hyperbolic.cc
Formula Sinh, Cosh, Asinh, Acosh, Atanh;

// f64. IEEE 754's pow: Pow to a unit in the last place, PowForF32 to 2^-40, which is enough for results in
// f32. power.cc
RealValue Pow(RealValue x, RealValue y);
RealValue PowForF32(RealValue x, RealValue y);

// The sum of two f64; the second is small against the last place of the first.
struct RealPair {
  RealValue high, low;
};
// log x to 2^-64 of its value, and e^(x.high + x.low) to a unit in the last place, f64. elementary.cc
RealPair LogExtended(RealValue x);
RealValue ExpExtended(RealPair x);

// e^x - 1 to full relative accuracy, f32 or f64, for |x| < 60; gives NaN for NaN. elementary.cc
RealValue ExpMinus1(RealValue x);

// These have loops: they add blocks to the function at the builder's insertion point. loops.cc

// f64. C's fmod, which is exact.
RealValue Fmod(RealValue x, RealValue y);
// An angle in right angles and a rest, f64. ReduceLargeAngles() reduces the lanes of x that `lanes`
// selects, which must be finite with |x| >= 1; the other lanes keep the values of `others`.
struct Angle {
  RealValue quadrant;  // 0, 1, 2 or 3
  RealValue rest;      // between -π/4 and π/4, to 2^-51 of it
};
Angle ReduceLargeAngles(RealValue x, LaneTruth lanes, Angle others);
// Scalars.
llvm::Value* IntegerPowLoop(ValueBuilder* values, bool is_signed, llvm::Value* x, llvm::Value* y);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_ELEMENTARY_H_

// Math functions as vector code of our own, most of it straight-line: no call leaves the kernel.
#ifndef ATTUNE_CODEGEN_MATH_H_
#define ATTUNE_CODEGEN_MATH_H_

#include "codegen/values.h"

namespace attune {

// One-operand operations on f32 or f64, scalars or vectors: kAbs, kSqrt, roundings, kExp to kSilu. Over
// the whole range of the type, infinities and NaN included, results are within 4 units in the last place for
// f32 (4.3 for kSilu; results of kExp below 2^-125 are 0) and within a relative error of 1e-12 for f64; where
// the exact result passes through zero other than at the argument 0, the error is that large relative to the
// argument. sin, cos and tan hold to this for arguments below 1e5 and lose accuracy gradually beyond.
llvm::Value* EmitMath(ValueBuilder* values, MathOp op, llvm::Value* x);

// IEEE 754's pow, within a unit in the last place.
llvm::Value* EmitPow(ValueBuilder* values, llvm::Value* x, llvm::Value* y);

// The exact remainder of x / y with the sign of x, as C's fmod.
llvm::Value* EmitFmod(ValueBuilder* values, llvm::Value* x, llvm::Value* y);

// x^y in wrapping integers; for y < 0 the truncated reciprocal, and 0 for x = 0.
llvm::Value* EmitIntegerPow(ValueBuilder* values, bool is_signed, llvm::Value* x, llvm::Value* y);

}  // namespace attune

#endif  // ATTUNE_CODEGEN_MATH_H_

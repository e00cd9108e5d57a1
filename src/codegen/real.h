// Floating-point formulas as they are written on paper, for the math functions.
//
// A RealValue is an f32 or f64 value, scalar or vector, with the builder that emits what is done to it. A
// plain number takes the type of the other operand.
#ifndef ATTUNE_CODEGEN_REAL_H_
#define ATTUNE_CODEGEN_REAL_H_

#include <span>

#include "codegen/values.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace attune {

struct RealValue {
  ValueBuilder* builder;
  llvm::Value* value;

  llvm::IRBuilder<>& ir() const { return builder->ir(); }
  bool is_f64() const { return value->getType()->getScalarType()->isDoubleTy(); }
  DType dtype() const { return is_f64() ? DType::kF64 : DType::kF32; }
  RealValue Of(llvm::Value* v) const { return {builder, v}; }
  RealValue Number(double number) const { return Of(llvm::ConstantFP::get(value->getType(), number)); }
  RealValue Call(llvm::Intrinsic::ID id) const { return Of(ir().CreateUnaryIntrinsic(id, value)); }
};

// A truth value in each lane.
struct LaneTruth {
  ValueBuilder* builder;
  llvm::Value* value;

  llvm::IRBuilder<>& ir() const { return builder->ir(); }
};

inline RealValue operator+(RealValue a, RealValue b) { return a.Of(a.ir().CreateFAdd(a.value, b.value)); }
inline RealValue operator-(RealValue a, RealValue b) { return a.Of(a.ir().CreateFSub(a.value, b.value)); }
inline RealValue operator*(RealValue a, RealValue b) { return a.Of(a.ir().CreateFMul(a.value, b.value)); }
inline RealValue operator/(RealValue a, RealValue b) { return a.Of(a.ir().CreateFDiv(a.value, b.value)); }
inline RealValue operator-(RealValue a) { return a.Of(a.ir().CreateFNeg(a.value)); }
inline RealValue operator+(RealValue a, double b) { return a + a.Number(b); }
inline RealValue operator-(RealValue a, double b) { return a - a.Number(b); }
inline RealValue operator-(double a, RealValue b) { return b.Number(a) - b; }
inline RealValue operator*(RealValue a, double b) { return a * a.Number(b); }
inline RealValue operator/(double a, RealValue b) { return b.Number(a) / b; }

// a b + c with one rounding.
inline RealValue Fma(RealValue a, RealValue b, RealValue c) {
  return a.Of(a.builder->Fma(a.value, b.value, c.value));
}
inline RealValue Fma(RealValue a, double b, RealValue c) { return Fma(a, a.Number(b), c); }

// c[0] + c[1] x + c[2] x² + … by Horner's rule.
inline RealValue Polynomial(RealValue x, std::span<const double> c) {
  RealValue y = x.Number(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) y = Fma(y, x, x.Number(c[i]));
  return y;
}

inline RealValue Abs(RealValue x) { return x.Call(llvm::Intrinsic::fabs); }
inline RealValue Sqrt(RealValue x) { return x.Call(llvm::Intrinsic::sqrt); }
inline RealValue Truncate(RealValue x) { return x.Call(llvm::Intrinsic::trunc); }
inline RealValue RoundToEven(RealValue x) { return x.Call(llvm::Intrinsic::roundeven); }
inline RealValue CopySign(RealValue magnitude, RealValue sign) {
  return magnitude.Of(
      magnitude.ir().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude.value, sign.value));
}

// Ordered comparisons: false where either is NaN.
inline LaneTruth operator<(RealValue a, RealValue b) {
  return {a.builder, a.ir().CreateFCmpOLT(a.value, b.value)};
}
inline LaneTruth operator<(RealValue a, double b) { return a < a.Number(b); }
inline LaneTruth operator>(RealValue a, double b) { return a.Number(b) < a; }
inline LaneTruth operator==(RealValue a, RealValue b) {
  return {a.builder, a.ir().CreateFCmpOEQ(a.value, b.value)};
}
inline LaneTruth operator==(RealValue a, double b) { return a == a.Number(b); }
inline LaneTruth operator&&(LaneTruth a, LaneTruth b) {
  return {a.builder, a.ir().CreateAnd(a.value, b.value)};
}
inline LaneTruth operator||(LaneTruth a, LaneTruth b) {
  return {a.builder, a.ir().CreateOr(a.value, b.value)};
}
inline LaneTruth operator!(LaneTruth a) { return {a.builder, a.ir().CreateNot(a.value)}; }

inline RealValue Where(LaneTruth condition, RealValue yes, RealValue no) {
  return yes.Of(yes.ir().CreateSelect(condition.value, yes.value, no.value));
}
inline RealValue Where(LaneTruth condition, double yes, RealValue no) {
  return Where(condition, no.Number(yes), no);
}

// x within bounds; NaN stays NaN. One instruction a side.
inline RealValue ClampBelow(RealValue x, double low) { return Where(x < low, low, x); }
inline RealValue ClampAbove(RealValue x, double high) { return Where(x > high, high, x); }
inline RealValue Clamp(RealValue x, double low, double high) { return ClampBelow(ClampAbove(x, high), low); }

}  // namespace attune

#endif  // ATTUNE_CODEGEN_REAL_H_

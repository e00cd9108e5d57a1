// Conversions between element types, each with one rounding and no call into a library.
#include <cmath>
#include <vector>

#include "base/status.h"
#include "codegen/values.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"

namespace attune {

using llvm::Value;

Value* ValueBuilder::Cast(DType from, DType to, Value* value) {
  if (from == to) return value;
  llvm::Type* type = TypeLike(to, value);
  if (to == DType::kBool) {
    if (!IsFloat(from)) return ir_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    if (from != DType::kF64) value = Cast(from, DType::kF32, value);
    return ir_.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  if (IsFloat(from))
    return IsFloat(to)
               ? FloatToFloat(from, to, value)
               : FloatToInteger(to, FloatToFloat(from, from == DType::kF64 ? from : DType::kF32, value));
  if (IsFloat(to)) return IntegerToFloat(from, to, value);
  return IsSignedInt(from) ? ir_.CreateSExtOrTrunc(value, type) : ir_.CreateZExtOrTrunc(value, type);
}

Value* ValueBuilder::Bitcast(DType to, Value* value) { return ir_.CreateBitCast(value, TypeLike(to, value)); }

Value* ValueBuilder::FloatToFloat(DType from, DType to, Value* value) {
  if (from == to) return value;
  llvm::Type* f32 = TypeLike(DType::kF32, value);
  llvm::Type* i32 = TypeLike(DType::kI32, value);
  llvm::Type* half = WithLanes(ir_.getHalfTy(), LanesOf(value));
  // Through f32: exact on the way up, and on the way down rounded to odd, so that the second rounding sees
  // on which side of a tie the number lies (Boldo and Melquiond, Emulation of FMA and correctly rounded sums:
  // proved algorithms using rounding to odd, 2008).
  if (from == DType::kF16) value = ir_.CreateFPExt(ir_.CreateBitCast(value, half), f32);
  if (from == DType::kBF16) value = ir_.CreateBitCast(ir_.CreateShl(ir_.CreateZExt(value, i32), 16), f32);
  if (to == DType::kF64) return ir_.CreateFPExt(value, TypeLike(DType::kF64, value));
  if (from == DType::kF64) {
    value = to == DType::kF32 ? ir_.CreateFPTrunc(value, f32) : RoundToOddF32(value);
  }
  if (to == DType::kF16) return ir_.CreateBitCast(ir_.CreateFPTrunc(value, half), TypeLike(to, value));
  return to == DType::kBF16 ? F32ToBF16(value) : value;
}

// f64 to f32; an inexact result becomes whichever neighbour has an odd significand.
Value* ValueBuilder::RoundToOddF32(Value* f64) {
  llvm::Type* i32 = TypeLike(DType::kI32, f64);
  Value* nearest = ir_.CreateFPTrunc(f64, TypeLike(DType::kF32, f64));
  Value* back = ir_.CreateFPExt(nearest, f64->getType());
  Value* size = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, f64);
  Value* rounded_size = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back);
  Value* away = ir_.CreateZExt(ir_.CreateFCmpOGT(rounded_size, size), i32);
  Value* inexact = ir_.CreateZExt(ir_.CreateFCmpONE(f64, back), i32);
  Value* toward_zero = ir_.CreateSub(ir_.CreateBitCast(nearest, i32), away);
  return ir_.CreateBitCast(ir_.CreateOr(toward_zero, inexact), nearest->getType());
}

// The same as FloatToBF16 in base/float16.h, except that the processor's own instruction flushes
// subnormals.
Value* ValueBuilder::F32ToBF16(Value* f32) {
  if (Value* converted = target_.ToBF16(ir_, f32)) return converted;
  llvm::Type* i32 = TypeLike(DType::kI32, f32);
  const auto constant = [&](uint64_t v) { return llvm::ConstantInt::get(i32, v); };
  Value* bits = ir_.CreateBitCast(f32, i32);
  Value* high = ir_.CreateLShr(bits, 16);
  Value* odd = ir_.CreateAnd(high, constant(1));
  Value* rounded = ir_.CreateLShr(ir_.CreateAdd(ir_.CreateAdd(bits, constant(0x7FFF)), odd), 16);
  Value* quiet = ir_.CreateOr(high, constant(0x40));
  Value* result = ir_.CreateSelect(ir_.CreateFCmpUNO(f32, f32), quiet, rounded);
  return ir_.CreateTrunc(result, TypeLike(DType::kBF16, f32));
}

// Truncates and saturates; NaN gives 0.
Value* ValueBuilder::FloatToInteger(DType to, Value* value) {
  if (FitsNarrowVector(to, value)) return NarrowVector(to, value, /*rounds=*/false);
  const auto id = IsSignedInt(to) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return ir_.CreateIntrinsic(id, {TypeLike(to, value), value->getType()}, {value});
}

Value* ValueBuilder::RoundTo(DType to, Value* f32) {
  if (FitsNarrowVector(to, f32)) return NarrowVector(to, f32, /*rounds=*/true);
  return Cast(DType::kF32, to, Unary(MathOp::kRound, DType::kF32, f32));
}

bool ValueBuilder::FitsNarrowVector(DType to, Value* value) {
  return value->getType()->getScalarType()->isFloatTy() && target_.VectorLanes(LanesOf(value)) != 0 &&
         !IsFloat(to) && to != DType::kBool && DTypeSize(to) <= 2;
}

// f32 to integers of at most 16 bits, rounded half to even or truncated.
Value* ValueBuilder::NarrowVector(DType to, Value* f32, bool rounds) {
  const int bits = 8 * DTypeSize(to);
  const int64_t lanes = LanesOf(f32), width = target_.VectorLanes(lanes);
  const double low = IsSignedInt(to) ? -std::ldexp(1, bits - 1) : 0;
  Value* lowest = Broadcast(Float(DType::kF32, low), lanes);
  Value* highest = Broadcast(Float(DType::kF32, low + std::ldexp(1, bits) - 1), lanes);
  // In this order each is one instruction, which lets NaN through. ToI32 turns NaN into a number whose low
  // bits are zeros, which the narrow type keeps.
  f32 = ir_.CreateSelect(ir_.CreateFCmpOLT(highest, f32), highest, f32);
  f32 = ir_.CreateSelect(ir_.CreateFCmpOGT(lowest, f32), lowest, f32);
  std::vector<Value*> parts;
  for (int64_t lane = 0; lane < lanes; lane += width) {
    const auto mask =
        llvm::createSequentialMask(static_cast<unsigned>(lane), static_cast<unsigned>(width), 0);
    parts.push_back(target_.ToI32(ir_, ir_.CreateShuffleVector(f32, mask), rounds));
  }
  return ir_.CreateTrunc(llvm::concatenateVectors(ir_, parts), WithLanes(ScalarType(to), lanes));
}

// Converts to f16 and bf16 through f64. f64 holds all integers of up to 32 bits; its rounding of 64-bit
// integers all but never shows in f16 (where they are infinite) and bf16 (which keeps 8 of 53 bits).
Value* ValueBuilder::IntegerToFloat(DType from, DType to, Value* value) {
  const DType via = to == DType::kF32 ? DType::kF32 : DType::kF64;
  llvm::Type* type = TypeLike(via, value);
  if (from == DType::kBool) value = ir_.CreateZExt(value, TypeLike(DType::kI32, value));
  Value* result = IsSignedInt(from) ? ir_.CreateSIToFP(value, type) : ir_.CreateUIToFP(value, type);
  return FloatToFloat(via, to, result);
}

}  // namespace attune

// Integer arithmetic: wraps, never traps, and has an answer where C has none.
#include "base/status.h"
#include "codegen/math.h"
#include "codegen/values.h"
#include "llvm/IR/Constants.h"

namespace attune {

using llvm::Value;

Value* ValueBuilder::IntegerBinary(MathOp op, DType dtype, Value* a, Value* b) {
  const bool is_signed = IsSignedInt(dtype);
  switch (op) {
    case MathOp::kAdd:
      return ir_.CreateAdd(a, b);
    case MathOp::kSub:
      return ir_.CreateSub(a, b);
    case MathOp::kMul:
      return ir_.CreateMul(a, b);
    case MathOp::kMin:
    case MathOp::kMax: {
      Value* less = is_signed ? ir_.CreateICmpSLT(a, b) : ir_.CreateICmpULT(a, b);
      return op == MathOp::kMin ? ir_.CreateSelect(less, a, b) : ir_.CreateSelect(less, b, a);
    }
    case MathOp::kAnd:
      return ir_.CreateAnd(a, b);
    case MathOp::kOr:
      return ir_.CreateOr(a, b);
    case MathOp::kXor:
      return ir_.CreateXor(a, b);
    case MathOp::kShiftLeft:
    case MathOp::kShiftRight:
      return Shift(op, dtype, a, b);
    case MathOp::kMulHigh:
      return MulHigh(a, b);
    case MathOp::kDiv:
    case MathOp::kMod:
    case MathOp::kFloorDiv:
    case MathOp::kFloorMod:
      return IntegerDivision(op, dtype, a, b);
    case MathOp::kPow:
      return EmitIntegerPow(this, is_signed, a, b);
    default:
      return Fail(a->getType(), InvalidInput(MathOpName(op), " of ", DTypeName(dtype), " does not exist"));
  }
}

// Shifts by the width or more give 0, or the sign for a signed shift right.
Value* ValueBuilder::Shift(MathOp op, DType dtype, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  const unsigned bits = type->getScalarSizeInBits();
  Value* in_range = ir_.CreateICmpULT(b, llvm::ConstantInt::get(type, bits));
  if (op == MathOp::kShiftRight && IsSignedInt(dtype)) {
    return ir_.CreateAShr(a, ir_.CreateSelect(in_range, b, llvm::ConstantInt::get(type, bits - 1)));
  }
  Value* zero = llvm::Constant::getNullValue(type);
  Value* amount = ir_.CreateSelect(in_range, b, zero);
  Value* shifted = op == MathOp::kShiftLeft ? ir_.CreateShl(a, amount) : ir_.CreateLShr(a, amount);
  return ir_.CreateSelect(in_range, shifted, zero);
}

// Multiplies even and odd lanes separately: the processor has an instruction for every other lane, whose
// products of 64 bits take the space of two lanes.
Value* ValueBuilder::MulHigh(Value* a, Value* b) {
  constexpr int kWord = 32;
  constexpr uint64_t kHalf = uint64_t{1} << (kWord - 1);
  const int64_t lanes = LanesOf(a);
  llvm::Type* word = a->getType();
  const auto product = [&](llvm::Type* wide, Value* x, Value* y) {
    return ir_.CreateAdd(ir_.CreateMul(x, y), llvm::ConstantInt::get(wide, kHalf));
  };
  if (lanes % 2 != 0) {
    llvm::Type* wide = WithLanes(ir_.getInt64Ty(), lanes);
    Value* exact = product(wide, ir_.CreateSExt(a, wide), ir_.CreateSExt(b, wide));
    return ir_.CreateTrunc(ir_.CreateAShr(exact, kWord), word);
  }
  llvm::Type* wide = llvm::FixedVectorType::get(ir_.getInt64Ty(), static_cast<unsigned>(lanes / 2));
  const auto even = [&](Value* x) {
    return ir_.CreateAShr(ir_.CreateShl(ir_.CreateBitCast(x, wide), kWord), kWord);
  };
  const auto odd = [&](Value* x) { return ir_.CreateAShr(ir_.CreateBitCast(x, wide), kWord); };
  Value* evens = ir_.CreateBitCast(product(wide, even(a), even(b)), word);
  Value* odds = ir_.CreateBitCast(product(wide, odd(a), odd(b)), word);
  std::vector<int> upper_halves;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t half = lane / 2 * 2 + 1;
    upper_halves.push_back(static_cast<int>(lane % 2 == 0 ? half : lanes + half));
  }
  return ir_.CreateShuffleVector(evens, odds, upper_halves);
}

// Replaces a divisor that would trap by 1. Division by zero gives 0 anyway; the least number divided by -1
// wraps to itself and has the remainder 0, as if divided by 1. The tests fold for constant divisors.
Value* ValueBuilder::IntegerDivision(MathOp op, DType dtype, Value* a, Value* b) {
  llvm::Type* type = a->getType();
  Value* zero = llvm::Constant::getNullValue(type);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* by_zero = ir_.CreateICmpEQ(b, zero);
  const bool remainder = op == MathOp::kMod || op == MathOp::kFloorMod;

  if (!IsSignedInt(dtype)) {
    Value* divisor = ir_.CreateSelect(by_zero, one, b);
    Value* result = remainder ? ir_.CreateURem(a, divisor) : ir_.CreateUDiv(a, divisor);
    return ir_.CreateSelect(by_zero, zero, result);
  }

  Value* least = llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
  Value* minus_one = llvm::Constant::getAllOnesValue(type);
  Value* overflows = ir_.CreateAnd(ir_.CreateICmpEQ(b, minus_one), ir_.CreateICmpEQ(a, least));
  Value* divisor = ir_.CreateSelect(ir_.CreateOr(by_zero, overflows), one, b);
  Value* quotient = ir_.CreateSDiv(a, divisor);
  Value* rest = ir_.CreateSub(a, ir_.CreateMul(quotient, divisor));
  Value* result = remainder ? rest : quotient;
  if (op == MathOp::kFloorDiv || op == MathOp::kFloorMod) {
    Value* signs_differ = ir_.CreateICmpSLT(ir_.CreateXor(rest, divisor), zero);
    Value* inexact = ir_.CreateAnd(ir_.CreateICmpNE(rest, zero), signs_differ);
    Value* floored = remainder ? ir_.CreateAdd(rest, divisor) : ir_.CreateSub(quotient, one);
    result = ir_.CreateSelect(inexact, floored, result);
  }
  return ir_.CreateSelect(by_zero, zero, result);
}

}  // namespace attune

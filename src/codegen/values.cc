#include "codegen/values.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/float16.h"
#include "base/status.h"
#include "codegen/math.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Intrinsics.h"

namespace attune {
namespace {

using llvm::Value;

bool IsSmallFloat(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

bool IsComparison(MathOp op) { return op >= MathOp::kEqual && op <= MathOp::kGreaterEqual; }

}  // namespace

Value* ValueBuilder::Fail(llvm::Type* type, absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
  return llvm::PoisonValue::get(type);
}

llvm::Type* ValueBuilder::ScalarType(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return ir_.getFloatTy();
    case DType::kF64:
      return ir_.getDoubleTy();
    case DType::kBool:
      return ir_.getInt1Ty();
    default:
      return ir_.getIntNTy(static_cast<unsigned>(8 * DTypeSize(dtype)));
  }
}

llvm::Type* ValueBuilder::MemoryType(DType dtype) {
  return dtype == DType::kBool ? ir_.getInt8Ty() : ScalarType(dtype);
}

llvm::Type* ValueBuilder::WithLanes(llvm::Type* scalar, int64_t lanes) {
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, static_cast<unsigned>(lanes));
}

int64_t ValueBuilder::LanesOf(const Value* value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type == nullptr ? 1 : type->getNumElements();
}

llvm::Type* ValueBuilder::TypeLike(DType dtype, const Value* like) {
  return WithLanes(ScalarType(dtype), LanesOf(like));
}

Value* ValueBuilder::Broadcast(Value* value, int64_t lanes) {
  if (lanes == 1 || value->getType()->isVectorTy()) return value;
  return ir_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
}

void ValueBuilder::Match(Value** a, Value** b) {
  *a = Broadcast(*a, LanesOf(*b));
  *b = Broadcast(*b, LanesOf(*a));
}

Value* ValueBuilder::Integer(DType dtype, int64_t value) {
  if (dtype == DType::kBool) return ir_.getInt1(value != 0);
  return llvm::ConstantInt::get(ScalarType(dtype), static_cast<uint64_t>(value), IsSignedInt(dtype));
}

Value* ValueBuilder::Float(DType dtype, double value) {
  if (dtype == DType::kF16) return ir_.getInt16(FloatToF16(static_cast<float>(value)));
  if (dtype == DType::kBF16) return ir_.getInt16(FloatToBF16(static_cast<float>(value)));
  return llvm::ConstantFP::get(ScalarType(dtype), value);
}

Value* ValueBuilder::Select(Value* condition, Value* a, Value* b) {
  Match(&a, &b);
  if (LanesOf(condition) > 1) {
    a = Broadcast(a, LanesOf(condition));
    b = Broadcast(b, LanesOf(condition));
  }
  return ir_.CreateSelect(condition, a, b);
}

Value* ValueBuilder::Fma(Value* a, Value* b, Value* c) {
  Match(&a, &b);
  Match(&a, &c);
  Match(&b, &c);
  return ir_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}

Value* ValueBuilder::Unary(MathOp op, DType dtype, Value* x) {
  if (IsSmallFloat(dtype)) {
    if (op == MathOp::kIsNan) return Unary(op, DType::kF32, Cast(dtype, DType::kF32, x));
    return Cast(DType::kF32, dtype, Unary(op, DType::kF32, Cast(dtype, DType::kF32, x)));
  }
  if (IsFloat(dtype)) {
    if (op == MathOp::kNeg) return ir_.CreateFNeg(x);
    if (op == MathOp::kIsNan) return ir_.CreateFCmpUNO(x, x);
    return EmitMath(this, op, x);
  }
  switch (op) {
    case MathOp::kNeg:
      return ir_.CreateNeg(x);
    case MathOp::kNot:
      return ir_.CreateNot(x);
    case MathOp::kAbs:
      return IsSignedInt(dtype) ? ir_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, ir_.getFalse()) : x;
    case MathOp::kFloor:
    case MathOp::kCeil:
    case MathOp::kRound:
    case MathOp::kTrunc:
      return x;
    default:
      return Fail(x->getType(), InvalidInput(MathOpName(op), " of ", DTypeName(dtype), " does not exist"));
  }
}

Value* ValueBuilder::Binary(MathOp op, DType dtype, Value* a, Value* b) {
  Match(&a, &b);
  if (IsComparison(op)) return Compare(op, dtype, a, b);
  if (IsSmallFloat(dtype)) {
    Value* result = FloatBinary(op, DType::kF32, Cast(dtype, DType::kF32, a), Cast(dtype, DType::kF32, b));
    return Cast(DType::kF32, dtype, result);
  }
  return IsFloat(dtype) ? FloatBinary(op, dtype, a, b) : IntegerBinary(op, dtype, a, b);
}

Value* ValueBuilder::FloatBinary(MathOp op, DType dtype, Value* a, Value* b) {
  switch (op) {
    case MathOp::kAdd:
      return ir_.CreateFAdd(a, b);
    case MathOp::kSub:
      return ir_.CreateFSub(a, b);
    case MathOp::kMul:
      return ir_.CreateFMul(a, b);
    case MathOp::kDiv:
      return ir_.CreateFDiv(a, b);
    case MathOp::kFloorDiv:
      return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, ir_.CreateFDiv(a, b));
    case MathOp::kMod:
      return EmitFmod(this, a, b);
    case MathOp::kFloorMod: {
      Value* r = EmitFmod(this, a, b);
      Value* zero = llvm::Constant::getNullValue(r->getType());
      Value* signs_differ = ir_.CreateXor(ir_.CreateFCmpOLT(r, zero), ir_.CreateFCmpOLT(b, zero));
      Value* adjust = ir_.CreateAnd(ir_.CreateFCmpONE(r, zero), signs_differ);
      return ir_.CreateSelect(adjust, ir_.CreateFAdd(r, b), r);
    }
    case MathOp::kMin:
    case MathOp::kMax:
      return FloatMinMax(op, a, b);
    case MathOp::kPow:
      return EmitPow(this, a, b);
    default:
      return Fail(a->getType(), InvalidInput(MathOpName(op), " of ", DTypeName(dtype), " does not exist"));
  }
}

// NaN where either operand is NaN. Zeros may have either sign: telling them apart takes more instructions.
Value* ValueBuilder::FloatMinMax(MathOp op, Value* a, Value* b) {
  llvm::FastMathFlags any_zero;
  any_zero.setNoSignedZeros();
  const llvm::IRBuilderBase::FastMathFlagGuard guard(ir_);
  ir_.setFastMathFlags(any_zero);
  return ir_.CreateBinaryIntrinsic(op == MathOp::kMin ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum,
                                   a, b);
}

Value* ValueBuilder::Compare(MathOp op, DType dtype, Value* a, Value* b) {
  Match(&a, &b);
  if (IsSmallFloat(dtype)) {
    return Compare(op, DType::kF32, Cast(dtype, DType::kF32, a), Cast(dtype, DType::kF32, b));
  }
  const bool is_float = IsFloat(dtype), is_signed = IsSignedInt(dtype);
  using P = llvm::CmpInst::Predicate;
  const auto pick = [&](P f, P s, P u) {
    return is_float ? ir_.CreateFCmp(f, a, b) : ir_.CreateICmp(is_signed ? s : u, a, b);
  };
  switch (op) {
    case MathOp::kEqual:
      return pick(P::FCMP_OEQ, P::ICMP_EQ, P::ICMP_EQ);
    case MathOp::kNotEqual:
      return pick(P::FCMP_UNE, P::ICMP_NE, P::ICMP_NE);
    case MathOp::kLess:
      return pick(P::FCMP_OLT, P::ICMP_SLT, P::ICMP_ULT);
    case MathOp::kLessEqual:
      return pick(P::FCMP_OLE, P::ICMP_SLE, P::ICMP_ULE);
    case MathOp::kGreater:
      return pick(P::FCMP_OGT, P::ICMP_SGT, P::ICMP_UGT);
    case MathOp::kGreaterEqual:
      return pick(P::FCMP_OGE, P::ICMP_SGE, P::ICMP_UGE);
    default:
      return Fail(TypeLike(DType::kBool, a), InternalError(MathOpName(op), " is not a comparison"));
  }
}

Value* ValueBuilder::ReduceLanes(MathOp op, DType dtype, Value* vector) {
  int64_t lanes = LanesOf(vector);
  Value* odd = nullptr;  // the elements that halving leaves over
  while (lanes > 1) {
    if (lanes % 2 == 1) {
      Value* last = ir_.CreateExtractElement(vector, static_cast<uint64_t>(lanes - 1));
      odd = odd == nullptr ? last : Binary(op, dtype, odd, last);
    }
    lanes /= 2;
    if (lanes == 1) {
      vector = Binary(op, dtype, ir_.CreateExtractElement(vector, uint64_t{0}),
                      ir_.CreateExtractElement(vector, uint64_t{1}));
      break;
    }
    std::vector<int> low(static_cast<size_t>(lanes)), high(static_cast<size_t>(lanes));
    std::iota(low.begin(), low.end(), 0);
    std::iota(high.begin(), high.end(), static_cast<int>(lanes));
    vector = Binary(op, dtype, ir_.CreateShuffleVector(vector, low), ir_.CreateShuffleVector(vector, high));
  }
  return odd == nullptr ? vector : Binary(op, dtype, vector, odd);
}

Value* ValueBuilder::Identity(MathOp op, DType dtype) {
  const bool is_float = IsFloat(dtype);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const unsigned bits = static_cast<unsigned>(8 * DTypeSize(dtype));
  const auto integer = [&](const llvm::APInt& value) {
    return dtype == DType::kBool ? ir_.getInt1(!value.isZero()) : ir_.getInt(value);
  };
  switch (op) {
    case MathOp::kAdd:
      return is_float ? Float(dtype, -0.0) : Integer(dtype, 0);
    case MathOp::kMul:
      return is_float ? Float(dtype, 1) : Integer(dtype, 1);
    case MathOp::kMin:
      if (is_float) return Float(dtype, kInf);
      return integer(IsSignedInt(dtype) ? llvm::APInt::getSignedMaxValue(bits)
                                        : llvm::APInt::getMaxValue(bits));
    case MathOp::kMax:
      if (is_float) return Float(dtype, -kInf);
      return integer(IsSignedInt(dtype) ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0));
    case MathOp::kAnd:
      return Integer(dtype, -1);
    case MathOp::kOr:
      return Integer(dtype, 0);
    default:
      return Fail(ScalarType(dtype), InvalidInput(MathOpName(op), " cannot reduce across lanes"));
  }
}

Value* ValueBuilder::ToMemory(DType dtype, Value* value) {
  if (dtype != DType::kBool) return value;
  return ir_.CreateZExt(value, WithLanes(ir_.getInt8Ty(), LanesOf(value)));
}

Value* ValueBuilder::FromMemory(DType dtype, Value* value) {
  if (dtype != DType::kBool) return value;
  return ir_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

}  // namespace attune

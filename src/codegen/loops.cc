// Operations that have no formula, or none for some operands: scalar loops over their bits.
#include <limits>
#include <vector>

#include "codegen/elementary.h"
#include "llvm/ADT/APInt.h"

namespace attune {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// A loop under construction: values that change from round to round, a condition, a step.
class BitLoop {
 public:
  explicit BitLoop(llvm::IRBuilder<>* ir) : ir_(*ir) {
    llvm::Function* function = ir_.GetInsertBlock()->getParent();
    before_ = ir_.GetInsertBlock();
    test_ = BasicBlock::Create(ir_.getContext(), "test", function);
    step_ = BasicBlock::Create(ir_.getContext(), "step", function);
    done_ = BasicBlock::Create(ir_.getContext(), "done", function);
    ir_.CreateBr(test_);
    ir_.SetInsertPoint(test_);
  }

  llvm::PHINode* Variable(Value* start) {
    llvm::PHINode* phi = ir_.CreatePHI(start->getType(), 2);
    phi->addIncoming(start, before_);
    return phi;
  }
  // To be called after all variables are made; puts the builder into the step.
  void While(Value* condition) {
    ir_.CreateCondBr(condition, step_, done_);
    ir_.SetInsertPoint(step_);
  }
  // To be called in the last block of the step, which may have loops of its own.
  void Next(llvm::PHINode* variable, Value* value) { variable->addIncoming(value, ir_.GetInsertBlock()); }
  // Puts the builder behind the loop.
  void End() {
    ir_.CreateBr(test_);
    ir_.SetInsertPoint(done_);
  }

 private:
  llvm::IRBuilder<>& ir_;
  BasicBlock *before_, *test_, *step_, *done_;
};

// A finite number as significand · 2^(exponent - 1075): the significand has its leading bit at 52 unless the
// number is subnormal, where the exponent is 1.
struct Decoded {
  Value* significand;
  Value* exponent;
};

Decoded Decode(llvm::IRBuilder<>& ir, Value* magnitude_bits) {
  Value* field = ir.CreateLShr(magnitude_bits, 52);
  Value* fraction = ir.CreateAnd(magnitude_bits, ir.getInt64((uint64_t{1} << 52) - 1));
  Value* subnormal = ir.CreateICmpEQ(field, ir.getInt64(0));
  Value* with_leading = ir.CreateOr(fraction, ir.getInt64(uint64_t{1} << 52));
  return {ir.CreateSelect(subnormal, fraction, with_leading),
          ir.CreateSelect(subnormal, ir.getInt64(1), field)};
}

// significand · 2^(exponent - 1075) as a number: exact where that number exists. The exponent is at least 1.
Value* Encode(llvm::IRBuilder<>& ir, Value* significand, Value* exponent) {
  Value* scaled = ir.CreateFMul(ir.CreateUIToFP(significand, ir.getDoubleTy()),
                                llvm::ConstantFP::get(ir.getDoubleTy(), 0x1p-52));
  return ir.CreateFMul(scaled, ir.CreateBitCast(ir.CreateShl(exponent, 52), ir.getDoubleTy()));
}

// 2/π · 2^kTwoOverPiBits, rounded down: for the largest f64, 2^1024, it has the digits for 190 bits behind
// the point.
constexpr uint64_t kTwoOverPiBits = 1216;
constexpr llvm::StringLiteral kTwoOverPi =
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424d"
    "d2e006492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639"
    "835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f46"
    "3f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6bab";

// significand · 2^(exponent - 1075) · 2/π modulo 4, times 2^254. Higher digits of 2/π would only add
// multiples of 4, and lower ones reach no digit that counts.
Value* RightAngles(llvm::IRBuilder<>& ir, const Decoded& x) {
  constexpr uint64_t kFraction = 190, kBias = 1075, kWidth = 256;
  llvm::Type* digits_type = ir.getIntNTy(kTwoOverPiBits);
  llvm::Type* type = ir.getIntNTy(kWidth);
  Value* digits = llvm::ConstantInt::get(digits_type, llvm::APInt(kTwoOverPiBits, kTwoOverPi, 16));
  Value* unused = ir.CreateSub(ir.getInt64(kTwoOverPiBits - kFraction + kBias), x.exponent);
  Value* used = ir.CreateTrunc(ir.CreateLShr(digits, ir.CreateZExt(unused, digits_type)), type);
  return ir.CreateShl(ir.CreateMul(used, ir.CreateZExt(x.significand, type)), kWidth - 2 - kFraction);
}

// `integer` · 2^-256, for a signed integer of 256 bits whose leading 128 bits are not all equal.
Value* FractionOf(llvm::IRBuilder<>& ir, Value* integer) {
  llvm::Type* f64 = ir.getDoubleTy();
  Value* high = ir.CreateTrunc(ir.CreateLShr(integer, 192), ir.getInt64Ty());
  Value* low = ir.CreateTrunc(ir.CreateLShr(integer, 128), ir.getInt64Ty());
  Value* scaled_low = ir.CreateFMul(ir.CreateUIToFP(low, f64), llvm::ConstantFP::get(f64, 0x1p-128));
  Value* scaled_high = ir.CreateFMul(ir.CreateSIToFP(high, f64), llvm::ConstantFP::get(f64, 0x1p-64));
  return ir.CreateFAdd(scaled_high, scaled_low);
}

// `vectors` (or scalars) with the elements of the lanes that are true replaced, one lane after the other.
// `body` takes a function that reads the current lane of a vector, and returns the new element for each of
// `vectors`.
template <typename Body>
std::vector<Value*> ReplaceLanes(LaneTruth lanes, std::vector<Value*> vectors, const Body& body) {
  llvm::IRBuilder<>& ir = lanes.ir();
  llvm::Type* i64 = ir.getInt64Ty();
  const bool is_vector = lanes.value->getType()->isVectorTy();
  const auto width = static_cast<unsigned>(ValueBuilder::LanesOf(lanes.value));
  Value* all = ir.CreateZExt(ir.CreateBitCast(lanes.value, ir.getIntNTy(width)), i64);

  BitLoop loop(&ir);
  llvm::PHINode* pending = loop.Variable(all);
  std::vector<llvm::PHINode*> variables;
  for (Value* vector : vectors) variables.push_back(loop.Variable(vector));
  loop.While(ir.CreateICmpNE(pending, ir.getInt64(0)));
  Value* lane = ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, pending, ir.getTrue());
  const std::vector<Value*> elements =
      body([&](Value* vector) { return is_vector ? ir.CreateExtractElement(vector, lane) : vector; });
  for (size_t i = 0; i < vectors.size(); ++i) {
    loop.Next(variables[i],
              is_vector ? ir.CreateInsertElement(variables[i], elements[i], lane) : elements[i]);
    vectors[i] = variables[i];
  }
  loop.Next(pending, ir.CreateAnd(pending, ir.CreateSub(pending, ir.getInt64(1))));
  loop.End();
  return vectors;
}

// x modulo y, both positive and finite, by long division, one bit an iteration: the remainder's significand
// is reduced by the divisor's, then doubled, until the exponents meet. Every step is exact.
Value* LongRemainder(llvm::IRBuilder<>& ir, Value* x, Value* y) {
  const Decoded a = Decode(ir, ir.CreateBitCast(x, ir.getInt64Ty()));
  const Decoded raw_b = Decode(ir, ir.CreateBitCast(y, ir.getInt64Ty()));
  // A subnormal divisor moves up, so that the first remainder is below twice the divisor.
  Value* zeros = ir.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, raw_b.significand, ir.getFalse());
  Value* shift = ir.CreateSub(zeros, ir.getInt64(11));
  const Decoded b = {ir.CreateShl(raw_b.significand, shift), ir.CreateSub(raw_b.exponent, shift)};

  BitLoop loop(&ir);
  llvm::PHINode* rest = loop.Variable(a.significand);
  llvm::PHINode* exponent = loop.Variable(a.exponent);
  Value* reduced =
      ir.CreateSelect(ir.CreateICmpUGE(rest, b.significand), ir.CreateSub(rest, b.significand), rest);
  loop.While(ir.CreateICmpSGT(exponent, b.exponent));
  loop.Next(rest, ir.CreateShl(reduced, 1));
  loop.Next(exponent, ir.CreateSub(exponent, ir.getInt64(1)));
  loop.End();
  return Encode(ir, ir.CreateLShr(reduced, shift), raw_b.exponent);
}

}  // namespace

// Multiplies by as many digits of 2/π as the exponent calls for, in integers, one lane an iteration (M.
// Payne and R. Hanek, Radian reduction for trigonometric functions, 1983).
Angle ReduceLargeAngles(RealValue x, LaneTruth lanes, Angle others) {
  llvm::IRBuilder<>& ir = x.ir();
  llvm::Type* i64 = ir.getInt64Ty();
  llvm::Type* f64 = ir.getDoubleTy();
  const std::vector<Value*> reduced =
      ReplaceLanes(lanes, {others.quadrant.value, others.rest.value}, [&](const auto& read) {
        Value* angle = read(x.value);
        Value* size = ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, angle);
        Value* turned = RightAngles(ir, Decode(ir, ir.CreateBitCast(size, i64)));
        // Adding half a right angle turns rounding down into rounding to the nearest.
        llvm::Type* wide = turned->getType();
        Value* half = ir.CreateShl(llvm::ConstantInt::get(wide, 1), 253);
        Value* nearest = ir.CreateTrunc(ir.CreateLShr(ir.CreateAdd(turned, half), 254), i64);
        constexpr double kHalfPi = 1.5707963267948966;
        Value* rest =
            ir.CreateFMul(FractionOf(ir, ir.CreateShl(turned, 2)), llvm::ConstantFP::get(f64, kHalfPi));
        Value* negative = ir.CreateFCmpOLT(angle, llvm::ConstantFP::get(f64, 0));
        Value* quadrant =
            ir.CreateAnd(ir.CreateSelect(negative, ir.CreateNeg(nearest), nearest), ir.getInt64(3));
        return std::vector<Value*>{ir.CreateUIToFP(quadrant, f64),
                                   ir.CreateSelect(negative, ir.CreateFNeg(rest), rest)};
      });
  return {x.Of(reduced[0]), x.Of(reduced[1])};
}

// With q = trunc(|x| / |y|), the rest |x| - q |y| is exact as long as q is an integer of f64. It is below 0
// where the quotient was rounded up to an integer.
RealValue Fmod(RealValue x, RealValue y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMostExact = 0x1p52;
  const RealValue a = Abs(x), b = Abs(y);
  const RealValue quotient = Truncate(a / b);
  const RealValue rest = Fma(-quotient, b, a);
  const RealValue positive = Where(rest < 0.0, rest + b, rest);
  const RealValue near = Where(b == kInfinity && a < kInfinity, a, positive);
  const LaneTruth large = quotient > kMostExact && a < kInfinity && b > 0.0;
  const std::vector<Value*> exact = ReplaceLanes(large, {near.value}, [&](const auto& read) {
    return std::vector<Value*>{LongRemainder(x.ir(), read(a.value), read(b.value))};
  });
  return CopySign(x.Of(exact[0]), x);
}

// Squares and multiplies, one bit of y an iteration.
Value* IntegerPowLoop(ValueBuilder* values, bool is_signed, Value* x, Value* y) {
  llvm::IRBuilder<>& ir = values->ir();
  llvm::Type* type = x->getType();
  Value* zero = llvm::ConstantInt::get(type, 0);
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* minus_one = llvm::Constant::getAllOnesValue(type);

  BitLoop loop(&ir);
  llvm::PHINode* product = loop.Variable(one);
  llvm::PHINode* square = loop.Variable(x);
  llvm::PHINode* bits = loop.Variable(y);
  loop.While(ir.CreateICmpNE(bits, zero));
  Value* is_set = ir.CreateTrunc(bits, ir.getInt1Ty());
  loop.Next(product, ir.CreateSelect(is_set, ir.CreateMul(product, square), product));
  loop.Next(square, ir.CreateMul(square, square));
  loop.Next(bits, ir.CreateLShr(bits, 1));
  loop.End();
  if (!is_signed) return product;

  // 1 / x^|y| truncates to 0 unless x is 1 or -1, whose reciprocals are themselves and whose powers depend on
  // y's lowest bit alone.
  Value* unit = ir.CreateOr(ir.CreateICmpEQ(x, one), ir.CreateICmpEQ(x, minus_one));
  Value* reciprocal = ir.CreateSelect(unit, product, zero);
  return ir.CreateSelect(ir.CreateICmpSLT(y, zero), reciprocal, product);
}

}  // namespace attune

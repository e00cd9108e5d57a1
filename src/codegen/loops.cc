// Operations without a formula: scalar loops over the bits of their operands.
#include "codegen/elementary.h"

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
  // After all variables: the builder then stands in the step.
  void While(Value* condition) {
    ir_.CreateCondBr(condition, step_, done_);
    ir_.SetInsertPoint(step_);
  }
  void Next(llvm::PHINode* variable, Value* value) { variable->addIncoming(value, step_); }
  // The builder then stands behind the loop.
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

}  // namespace

// Long division, a bit a round: the remainder's significand is reduced by the divisor's, then doubled, until
// the exponents meet. Every step is exact.
Value* FmodLoop(ValueBuilder* values, Value* x, Value* y) {
  llvm::IRBuilder<>& ir = values->ir();
  llvm::Type* i64 = ir.getInt64Ty();
  const RealValue numerator{values, x}, denominator{values, y};
  Value* x_bits = ir.CreateBitCast(Abs(numerator).value, i64);
  Value* y_bits = ir.CreateBitCast(Abs(denominator).value, i64);
  const Decoded a = Decode(ir, x_bits), raw_b = Decode(ir, y_bits);
  // A subnormal divisor moves up, so that the first remainder is below twice the divisor.
  Value* zeros = ir.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, raw_b.significand, ir.getFalse());
  Value* shift = ir.CreateSub(zeros, ir.getInt64(11));
  const Decoded b = {ir.CreateShl(raw_b.significand, shift), ir.CreateSub(raw_b.exponent, shift)};
  Value* infinity = ir.getInt64(uint64_t{0x7FF} << 52);
  // Zero, infinite and NaN operands must not enter the loop, whose result they do not take.
  Value* undefined =
      ir.CreateOr(ir.CreateICmpUGE(x_bits, infinity),
                  ir.CreateOr(ir.CreateICmpUGT(y_bits, infinity), ir.CreateICmpEQ(y_bits, ir.getInt64(0))));
  Value* start_exponent = ir.CreateSelect(undefined, b.exponent, a.exponent);

  BitLoop loop(&ir);
  llvm::PHINode* rest = loop.Variable(a.significand);
  llvm::PHINode* exponent = loop.Variable(start_exponent);
  Value* reduced =
      ir.CreateSelect(ir.CreateICmpUGE(rest, b.significand), ir.CreateSub(rest, b.significand), rest);
  loop.While(ir.CreateICmpSGT(exponent, b.exponent));
  loop.Next(rest, ir.CreateShl(reduced, 1));
  loop.Next(exponent, ir.CreateSub(exponent, ir.getInt64(1)));
  loop.End();

  Value* magnitude = Encode(ir, ir.CreateLShr(reduced, shift), raw_b.exponent);
  Value* result =
      ir.CreateSelect(ir.CreateICmpULT(x_bits, y_bits), x, CopySign({values, magnitude}, numerator).value);
  return ir.CreateSelect(undefined, llvm::ConstantFP::getNaN(ir.getDoubleTy()), result);
}

// Squaring and multiplying, a bit of y a round.
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

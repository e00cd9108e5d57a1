// Which formula computes which operation, and in what precision.
//
// exp, log, tanh, sigmoid, silu and erf are in the hot loops of networks and compute f32 in f32. All other
// functions compute in f64 and round at the end, so that one formula serves both types with room to spare.
// They become functions of their own within the object, so that an unrolled tile does not repeat their
// bodies.
#include "codegen/math.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "base/status.h"
#include "codegen/elementary.h"
#include "codegen/real.h"
#include "llvm/IR/Module.h"

namespace attune {
namespace {

using llvm::Value;

// Calls the function `name` of the module that is being emitted, for values of these types; `body` makes it
// when it is first needed.
template <typename Body>
Value* CallLocal(ValueBuilder* values, const std::string& name, llvm::ArrayRef<Value*> arguments,
                 const Body& body) {
  llvm::IRBuilder<>& ir = values->ir();
  llvm::Module* module = ir.GetInsertBlock()->getModule();
  llvm::Type* type = arguments[0]->getType();
  const std::string symbol = absl::StrCat("attune.", name, ".", ValueBuilder::LanesOf(arguments[0]), "x",
                                          type->getScalarType()->isFloatTy()    ? "f"
                                          : type->getScalarType()->isDoubleTy() ? "d"
                                                                                : "i",
                                          type->getScalarSizeInBits());
  llvm::Function* function = module->getFunction(symbol);
  if (function == nullptr) {
    const llvm::IRBuilder<>::InsertPointGuard guard(ir);
    const std::vector<llvm::Type*> types(arguments.size(), type);
    function = llvm::Function::Create(llvm::FunctionType::get(type, types, false),
                                      llvm::Function::InternalLinkage, symbol, module);
    ir.SetInsertPoint(llvm::BasicBlock::Create(ir.getContext(), "", function));
    ir.CreateRet(body(function));
  }
  return ir.CreateCall(function, arguments);
}

// Calls a scalar local function for each lane.
template <typename Body>
Value* CallForEachLane(ValueBuilder* values, const std::string& name, Value* x, Value* y, const Body& body) {
  const int64_t lanes = ValueBuilder::LanesOf(x);
  if (lanes == 1) return CallLocal(values, name, {x, y}, body);
  llvm::IRBuilder<>& ir = values->ir();
  Value* result = llvm::PoisonValue::get(x->getType());
  for (uint64_t lane = 0; lane < static_cast<uint64_t>(lanes); ++lane) {
    Value* one =
        CallLocal(values, name, {ir.CreateExtractElement(x, lane), ir.CreateExtractElement(y, lane)}, body);
    result = ir.CreateInsertElement(result, one, lane);
  }
  return result;
}

Value* ToF64(ValueBuilder* values, Value* x) {
  return x->getType()->getScalarType()->isDoubleTy() ? x : values->Cast(DType::kF32, DType::kF64, x);
}

Value* FromF64(ValueBuilder* values, Value* f64, llvm::Type* type) {
  return type->getScalarType()->isDoubleTy() ? f64 : values->Cast(DType::kF64, DType::kF32, f64);
}

struct FormulaRow {
  MathOp op;
  Formula* formula;
  bool has_f32 = false;  // else it is in f64 alone
};

constexpr FormulaRow kFormulas[] = {
    {MathOp::kExp, Exp, true},   {MathOp::kLog, Log, true},
    {MathOp::kSin, Sin},         {MathOp::kCos, Cos},
    {MathOp::kTan, Tan},         {MathOp::kAsin, Asin},
    {MathOp::kAcos, Acos},       {MathOp::kAtan, Atan},
    {MathOp::kSinh, Sinh},       {MathOp::kCosh, Cosh},
    {MathOp::kTanh, Tanh, true}, {MathOp::kAsinh, Asinh},
    {MathOp::kAcosh, Acosh},     {MathOp::kAtanh, Atanh},
    {MathOp::kErf, Erf, true},   {MathOp::kSigmoid, Sigmoid, true},
    {MathOp::kSilu, Silu, true},
};

}  // namespace

Value* EmitMath(ValueBuilder* values, MathOp op, Value* x) {
  const RealValue real{values, x};
  switch (op) {
    case MathOp::kAbs:
      return Abs(real).value;
    case MathOp::kSqrt:
      return Sqrt(real).value;
    case MathOp::kFloor:
      return real.Call(llvm::Intrinsic::floor).value;
    case MathOp::kCeil:
      return real.Call(llvm::Intrinsic::ceil).value;
    case MathOp::kRound:
      return RoundToEven(real).value;
    case MathOp::kTrunc:
      return Truncate(real).value;
    default:
      break;
  }
  const FormulaRow* row = std::ranges::find(kFormulas, op, &FormulaRow::op);
  if (row == std::end(kFormulas))
    return values->Fail(x->getType(), InvalidInput(MathOpName(op), " of a float does not exist"));
  if (row->has_f32 && !real.is_f64()) return row->formula(real).value;
  return CallLocal(values, std::string(MathOpName(op)), {x}, [&](llvm::Function* f) {
    const RealValue argument{values, ToF64(values, f->getArg(0))};
    return FromF64(values, row->formula(argument).value, x->getType());
  });
}

Value* EmitPow(ValueBuilder* values, Value* x, Value* y) {
  return CallLocal(values, "pow", {x, y}, [&](llvm::Function* f) {
    const RealValue base{values, ToF64(values, f->getArg(0))};
    const RealValue exponent{values, ToF64(values, f->getArg(1))};
    const bool wide = x->getType()->getScalarType()->isDoubleTy();
    return FromF64(values, (wide ? Pow(base, exponent) : PowForF32(base, exponent)).value, x->getType());
  });
}

Value* EmitFmod(ValueBuilder* values, Value* x, Value* y) {
  return CallLocal(values, "fmod", {x, y}, [&](llvm::Function* f) {
    const RealValue dividend{values, ToF64(values, f->getArg(0))};
    const RealValue divisor{values, ToF64(values, f->getArg(1))};
    return FromF64(values, Fmod(dividend, divisor).value, x->getType());
  });
}

Value* EmitIntegerPow(ValueBuilder* values, bool is_signed, Value* x, Value* y) {
  return CallForEachLane(values, is_signed ? "ipow" : "upow", x, y, [&](llvm::Function* f) {
    return IntegerPowLoop(values, is_signed, f->getArg(0), f->getArg(1));
  });
}

}  // namespace attune

// Which formula computes which operation, and in what precision.
//
// exp, log, tanh, sigmoid, silu and erf are in the hot loops of networks and compute f32 in f32. All other
// functions compute in f64 and round at the end, so that one formula serves both types with room to spare.
// They become functions of their own within the object, so that an unrolled tile does not repeat their
// bodies.
#include "codegen/math.h"

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

RealValue InF64(MathOp op, RealValue x) {
  switch (op) {
    case MathOp::kExp:
      return Exp(x);
    case MathOp::kLog:
      return Log(x);
    case MathOp::kSin:
      return Sin(x);
    case MathOp::kCos:
      return Cos(x);
    case MathOp::kTan:
      return Tan(x);
    case MathOp::kAsin:
      return Asin(x);
    case MathOp::kAcos:
      return Acos(x);
    case MathOp::kAtan:
      return Atan(x);
    case MathOp::kSinh:
      return Sinh(x);
    case MathOp::kCosh:
      return Cosh(x);
    case MathOp::kTanh:
      return Tanh(x);
    case MathOp::kAsinh:
      return Asinh(x);
    case MathOp::kAcosh:
      return Acosh(x);
    case MathOp::kAtanh:
      return Atanh(x);
    case MathOp::kErf:
      return Erf(x);
    case MathOp::kSigmoid:
      return Sigmoid(x);
    case MathOp::kSilu:
      return Silu(x);
    default:
      x.builder->Fail(x.value->getType(), InvalidInput(MathOpName(op), " of a float does not exist"));
      return x;
  }
}

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
  if (!real.is_f64()) {
    switch (op) {
      case MathOp::kExp:
        return Exp(real).value;
      case MathOp::kLog:
        return Log(real).value;
      case MathOp::kTanh:
        return Tanh(real).value;
      case MathOp::kErf:
        return Erf(real).value;
      case MathOp::kSigmoid:
        return Sigmoid(real).value;
      case MathOp::kSilu:
        return Silu(real).value;
      default:
        break;
    }
  }
  return CallLocal(values, std::string(MathOpName(op)), {x}, [&](llvm::Function* f) {
    const RealValue argument{values, ToF64(values, f->getArg(0))};
    return FromF64(values, InF64(op, argument).value, x->getType());
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

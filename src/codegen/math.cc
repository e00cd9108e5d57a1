#include "codegen/math.h"
namespace attune {
llvm::Value* EmitMath(ValueBuilder*, MathOp, llvm::Value* x) { return x; }
llvm::Value* EmitPow(ValueBuilder*, llvm::Value* x, llvm::Value*) { return x; }
llvm::Value* EmitFmod(ValueBuilder*, llvm::Value* x, llvm::Value*) { return x; }
llvm::Value* EmitIntegerPow(ValueBuilder*, bool, llvm::Value* x, llvm::Value*) { return x; }
}  // namespace attune

// Scalar and vector values of the loop-nest IR as LLVM instructions: types, arithmetic, conversions.
//
// A value is an llvm::Value of the element's type, or a vector of it, one lane an iteration of a vectorized
// loop. f32 and f64 are float and double, bool is i1, integers are integers of their width, f16 and bf16 are
// their bits (i16): they are storage types, and every operation on them goes through f32.
#ifndef ATTUNE_CODEGEN_VALUES_H_
#define ATTUNE_CODEGEN_VALUES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/dtype.h"
#include "codegen/target_emitter.h"
#include "llvm/IR/IRBuilder.h"
#include "tensor/expr.h"

namespace attune {

// Emits at the builder's insertion point. Where operands mix a scalar and a vector, the scalar is broadcast.
// An operation that does not exist for its type records an error and yields poison.
class ValueBuilder {
 public:
  // Both must outlive the builder.
  ValueBuilder(llvm::LLVMContext& context, const TargetEmitter& target) : ir_(context), target_(target) {}

  llvm::IRBuilder<>& ir() { return ir_; }
  const TargetEmitter& target() const { return target_; }
  // The first error of any call.
  const absl::Status& status() const { return status_; }
  llvm::Value* Fail(llvm::Type* type, absl::Status status);

  // Types. One lane is a scalar.
  llvm::Type* ScalarType(DType dtype);
  llvm::Type* MemoryType(DType dtype);  // as ScalarType, but i8 for bool
  static llvm::Type* WithLanes(llvm::Type* scalar, int64_t lanes);
  static int64_t LanesOf(const llvm::Value* value);  // 1 for a scalar
  // The type of `like`'s shape with the element type of `dtype`.
  llvm::Type* TypeLike(DType dtype, const llvm::Value* like);

  // Shapes.
  llvm::Value* Broadcast(llvm::Value* value, int64_t lanes);  // a vector of that many lanes stays itself
  void Match(llvm::Value** a, llvm::Value** b);               // broadcasts the scalar one of two

  // Constants, as scalars.
  llvm::Value* Integer(DType dtype, int64_t value);
  llvm::Value* Float(DType dtype, double value);

  // Operations. The operands have type `dtype`; see expr.h for what each computes.
  llvm::Value* Unary(MathOp op, DType dtype, llvm::Value* x);
  llvm::Value* Binary(MathOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* Compare(MathOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* Select(llvm::Value* condition, llvm::Value* a, llvm::Value* b);
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c);  // a b + c, f32 or f64
  llvm::Value* Cast(DType from, DType to, llvm::Value* value);
  llvm::Value* Bitcast(DType to, llvm::Value* value);
  // f32 rounded, half to even, and saturated; NaN gives 0.
  llvm::Value* RoundTo(DType to, llvm::Value* f32);

  // All lanes of a vector combined by `op` (add, mul, min, max, and, or), in a tree.
  llvm::Value* ReduceLanes(MathOp op, DType dtype, llvm::Value* vector);
  // The x for which op(x, y) is y.
  llvm::Value* Identity(MathOp op, DType dtype);

  // A bool vector or scalar as it is stored in memory, and back.
  llvm::Value* ToMemory(DType dtype, llvm::Value* value);
  llvm::Value* FromMemory(DType dtype, llvm::Value* value);

 private:
  llvm::Value* FloatBinary(MathOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* FloatMinMax(MathOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* IntegerBinary(MathOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* IntegerDivision(MathOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* Shift(MathOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* MulHigh(llvm::Value* a, llvm::Value* b);

  llvm::Value* FloatToFloat(DType from, DType to, llvm::Value* value);
  llvm::Value* FloatToInteger(DType to, llvm::Value* value);
  llvm::Value* IntegerToFloat(DType from, DType to, llvm::Value* value);
  llvm::Value* RoundToOddF32(llvm::Value* f64);
  llvm::Value* F32ToBF16(llvm::Value* f32);
  bool FitsNarrowVector(DType to, llvm::Value* value);
  llvm::Value* NarrowVector(DType to, llvm::Value* f32, bool rounds);

  llvm::IRBuilder<> ir_;
  const TargetEmitter& target_;
  absl::Status status_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_VALUES_H_

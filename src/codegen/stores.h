// Emits store statements: plain ones, and those by which a vectorized loop reduces across its lanes.
#ifndef ATTUNE_CODEGEN_STORES_H_
#define ATTUNE_CODEGEN_STORES_H_

#include "codegen/expressions.h"
#include "codegen/memory.h"
#include "codegen/scopes.h"
#include "codegen/values.h"
#include "tensor/stmt.h"

namespace attune {

class StoreEmitter {
 public:
  // All must outlive this.
  StoreEmitter(ValueBuilder& values, Scopes& scopes, ExpressionEmitter& expressions, MemoryEmitter& memory)
      : values_(values), ir_(values.ir()), scopes_(scopes), expressions_(expressions), memory_(memory) {}

  void Emit(const Stmt& s);
  // Emits an unrolled loop in a vectorized loop, around a store in which the iterations of each lane write
  // neighbouring elements: interleaves the vectors of all iterations and stores them at once. Returns
  // false, having emitted nothing, for a loop of another form.
  bool EmitInterleaved(const Stmt& loop);

 private:
  bool EmitReduction(const Stmt& s, const Access& access);
  void EmitUniformStore(const Stmt& s, const Access& access);
  llvm::BasicBlock* EnterIfAnyLane();
  void LeaveTo(llvm::BasicBlock* done);

  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  Scopes& scopes_;
  ExpressionEmitter& expressions_;
  MemoryEmitter& memory_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_STORES_H_

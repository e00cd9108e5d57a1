// Dot product loops: the terms that one instruction multiplies and adds to each lane of an accumulator.
//
// Problem: processors multiply narrow numbers at twice or four times the speed, but only in this form: for
// each lane of 32 bits, neighbouring narrow elements of two registers are multiplied and summed. Idea: a
// schedule puts a loop over such neighbours innermost; here the store in it is matched with what an
// instruction does: acc[v] += Σ_t a[t] b[v, t], where a may be the same for all lanes. kDotInstructions of
// target/products.h lists the instructions.
#ifndef ATTUNE_CODEGEN_DOT_H_
#define ATTUNE_CODEGEN_DOT_H_

#include "codegen/expressions.h"
#include "codegen/memory.h"
#include "codegen/scopes.h"
#include "codegen/values.h"
#include "target/products.h"
#include "target/target.h"
#include "tensor/stmt.h"

namespace attune {

class DotEmitter {
 public:
  // All must outlive this.
  DotEmitter(const Target& target, ValueBuilder& values, Scopes& scopes, ExpressionEmitter& expressions,
             MemoryEmitter& memory)
      : target_(target),
        values_(values),
        ir_(values.ir()),
        scopes_(scopes),
        expressions_(expressions),
        memory_(memory) {}

  // Emits a dot product loop. Returns false, having emitted nothing, where no instruction computes its
  // store.
  bool Emit(const Stmt& s);

 private:
  llvm::Value* ModelOf(const ProductInstruction& instruction, llvm::Value* sum, llvm::Value* left,
                       llvm::Value* right);

  const Target& target_;
  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  Scopes& scopes_;
  ExpressionEmitter& expressions_;
  MemoryEmitter& memory_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_DOT_H_

// Emits the values of expressions: uniform ones as scalars, equal in all lanes, and inside of a vectorized
// loop those that differ between lanes as vectors with one lane an iteration.
#ifndef ATTUNE_CODEGEN_EXPRESSIONS_H_
#define ATTUNE_CODEGEN_EXPRESSIONS_H_

#include <unordered_map>
#include <vector>

#include "codegen/addresses.h"
#include "codegen/buffers.h"
#include "codegen/memory.h"
#include "codegen/scopes.h"
#include "codegen/values.h"
#include "tensor/contraction.h"
#include "tensor/expr.h"

namespace attune {

class ExpressionEmitter : private IndexEmitter {
 public:
  // All must outlive this.
  ExpressionEmitter(ValueBuilder& values, Scopes& scopes, KernelBuffers& buffers, MemoryEmitter& memory)
      : values_(values),
        ir_(values.ir()),
        scopes_(scopes),
        memory_(memory),
        addresses_(values, scopes, buffers, *this) {}
  ExpressionEmitter(const ExpressionEmitter&) = delete;
  ExpressionEmitter& operator=(const ExpressionEmitter&) = delete;

  // Within a statement each expression is emitted once, so its value must stay known until the statement
  // ends.
  void BeginStatement();
  // Must be called when memory, variables or the lanes change within a statement.
  void ForgetValues() { memo_.clear(); }

  llvm::Value* Emit(const Expr& e);
  // The same for an expression of the kernel's sizes, where the function begins.
  llvm::Value* EmitAtEntry(const Expr& e);
  Access Locate(const Buffer& buffer, const std::vector<Expr>& indices) {
    return addresses_.Locate(buffer, indices);
  }
  Addresses& addresses() { return addresses_; }

 private:
  // Keeps the expression alive: many are temporaries, and a new node at the same address would be taken for
  // the old one.
  struct Emitted {
    Expr expr;
    llvm::Value* value;
  };
  using Memo = std::unordered_map<const ExprNode*, Emitted>;

  llvm::Value* EmitAffine(const Affine& a) override;
  llvm::Value* EmitElsewhere(const Affine& a) override;
  llvm::Value* EmitVariable(const Expr& e);
  llvm::Value* EmitOp(const Expr& e);
  llvm::Value* EmitIndexDivision(const Expr& e);
  llvm::Value* EmitLaneComparison(const Expr& e);

  ValueBuilder& values_;
  llvm::IRBuilder<>& ir_;
  Scopes& scopes_;
  MemoryEmitter& memory_;
  Addresses addresses_;
  Memo memo_;
  Contraction contraction_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_EXPRESSIONS_H_

// The place in a function that code is emitted at, and what is known there.
//
// A scope is a region of code that is entered through one block, which ends in a plain branch: what is
// inserted before that branch is computed once and known throughout the region. Scopes nest. Each variable is
// bound in one, so that a value which depends on some variables can be made at the outermost scope that knows
// them all.
#ifndef ATTUNE_CODEGEN_SCOPES_H_
#define ATTUNE_CODEGEN_SCOPES_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/values.h"
#include "llvm/IR/IRBuilder.h"
#include "tensor/affine.h"

namespace attune {

// The vectorized loop that is being emitted.
struct LaneLoop {
  Var var;
  Expr min;
  int64_t lanes;
  llvm::Value* mask = nullptr;  // lanes that take part, or null for all
};

class Scopes {
 public:
  // A pointer that is known in a scope: `base` moved by these terms.
  struct Pointer {
    llvm::Value* base;
    std::vector<Affine::Term> terms;
    llvm::Value* value;
  };

  // The builder must outlive this.
  explicit Scopes(ValueBuilder& values) : ir_(values.ir()) {}

  // Opens the first scope of a function without blocks. No variable may be bound.
  void BeginFunction(llvm::Function* function);
  llvm::Function* function() const { return function_; }

  llvm::BasicBlock* NewBlock(const char* name);
  // Opens a scope at a new block; the builder then stands after its entry.
  void Enter(llvm::BasicBlock* entry);
  void Leave() { scopes_.pop_back(); }
  // The depth of the innermost scope; the function's scope has depth 0.
  size_t depth() const { return scopes_.size() - 1; }
  // Code that is inserted before this instruction is known throughout the scope.
  llvm::Instruction* EndOfEntry(size_t depth) const { return scopes_[depth].entry->getTerminator(); }
  // The pointers that were made in the scope so far.
  std::vector<Pointer>& pointers(size_t depth) { return scopes_[depth].pointers; }

  // Binds a variable to a value, which lies in this interval and before `end` if that is not null, in the
  // innermost scope.
  void Bind(const Var& var, llvm::Value* value, Interval interval, const Expr& end = {});
  void Unbind(const Var& var);
  // Null where the variable is not bound.
  llvm::Value* ValueOf(const Var& var) const;
  // The depth of the outermost scope where the value of a uniform expression is known.
  size_t DepthOf(const Expr& e) const;
  // The ranges of bound variables, and of others that a caller sets for a while.
  Bounds& bounds() { return bounds_; }
  const Bounds& bounds() const { return bounds_; }

  // Null outside of vectorized loops.
  const LaneLoop* lanes() const { return lanes_ ? &*lanes_ : nullptr; }
  void BeginLanes(LaneLoop lanes) { lanes_ = std::move(lanes); }
  void EndLanes() { lanes_.reset(); }
  void SetMask(llvm::Value* mask) { lanes_->mask = mask; }
  // Whether the lanes of the loop can see different values.
  bool DependsOnLane(const Expr& e) const;

 private:
  struct Scope {
    llvm::BasicBlock* entry;
    std::vector<Pointer> pointers;
  };
  struct Binding {
    llvm::Value* value;
    size_t depth;  // of the scope that it is known in
  };

  llvm::IRBuilder<>& ir_;
  llvm::Function* function_ = nullptr;
  std::vector<Scope> scopes_;
  Bounds bounds_;
  std::unordered_map<const VarNode*, Binding> bindings_;
  std::optional<LaneLoop> lanes_;
};

}  // namespace attune

#endif  // ATTUNE_CODEGEN_SCOPES_H_

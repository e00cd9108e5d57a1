#include "codegen/scopes.h"

#include <algorithm>

namespace attune {

using llvm::BasicBlock;
using llvm::Value;

void Scopes::BeginFunction(llvm::Function* function) {
  function_ = function;
  scopes_.clear();
  ir_.SetInsertPoint(BasicBlock::Create(ir_.getContext(), "", function));
  Enter(NewBlock("entry"));
}

BasicBlock* Scopes::NewBlock(const char* name) {
  return BasicBlock::Create(ir_.getContext(), name, function_);
}

void Scopes::Enter(BasicBlock* entry) {
  if (ir_.GetInsertBlock()->getTerminator() == nullptr) ir_.CreateBr(entry);
  BasicBlock* body = NewBlock("body");
  ir_.SetInsertPoint(entry);
  ir_.CreateBr(body);
  ir_.SetInsertPoint(body);
  scopes_.push_back({entry, {}});
}

void Scopes::Bind(const Var& var, Value* value, Interval interval, const Expr& end) {
  bounds_.Set(var, interval, end);
  bindings_[var.get()] = {value, depth()};
}

void Scopes::Unbind(const Var& var) {
  bounds_.Unset(var);
  bindings_.erase(var.get());
}

Value* Scopes::ValueOf(const Var& var) const {
  const auto it = bindings_.find(var.get());
  return it == bindings_.end() ? nullptr : it->second.value;
}

size_t Scopes::DepthOf(const Expr& e) const {
  if (e->kind == ExprKind::kVar) {
    const auto it = bindings_.find(e->var.get());
    return it == bindings_.end() ? depth() : it->second.depth;
  }
  size_t deepest = 0;
  for (const Expr& arg : e->args) deepest = std::max(deepest, DepthOf(arg));
  return deepest;
}

bool Scopes::DependsOnLane(const Expr& e) const {
  if (!lanes_) return false;
  if (e->kind == ExprKind::kVar) {
    const Value* value = ValueOf(e->var);
    return value != nullptr && ValueBuilder::LanesOf(value) > 1;
  }
  return std::ranges::any_of(e->args, [this](const Expr& arg) { return DependsOnLane(arg); });
}

}  // namespace attune

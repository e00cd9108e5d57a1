// Store statements: plain ones, and those by which a vectorized loop reduces across its lanes.
#include <algorithm>

#include "base/status.h"
#include "codegen/emitter.h"

namespace attune {

using llvm::Value;

void NestEmitter::EmitStore(const Stmt& s) {
  ForgetOperands();
  const Access access = Locate(s->buffer, s->indices);
  if (lanes_ && !access.varies()) {
    if (!EmitReduction(s, access)) EmitUniformStore(s, access);
    return;
  }
  StoreTo(s->buffer, access, EmitExpr(s->value));
}

// buffer[i] = op(buffer[i], x) with x different in each lane: combines the lanes, then updates the element.
// Returns false for a store of another form.
bool NestEmitter::EmitReduction(const Stmt& s, const Access& access) {
  const Expr& value = s->value;
  if (value->kind != ExprKind::kOp || value->args.size() != 2) return false;
  const auto is_element = [&](const Expr& e) {
    return e->kind == ExprKind::kLoad && e->buffer == s->buffer &&
           std::equal(e->args.begin(), e->args.end(), s->indices.begin(), s->indices.end(), SameExpr);
  };
  const int element = is_element(value->args[0]) ? 0 : is_element(value->args[1]) ? 1 : -1;
  if (element < 0) return false;
  const DType dtype = s->buffer->dtype;
  Value* identity = values_.Identity(value->op, dtype);
  Value* x = values_.Broadcast(EmitExpr(value->args[1 - element]), lanes_->lanes);
  if (lanes_->mask != nullptr) x = values_.Select(lanes_->mask, x, identity);
  Value* combined = values_.ReduceLanes(value->op, dtype, x);

  llvm::BasicBlock* done = lanes_->mask == nullptr ? nullptr : EnterIfAnyLane();
  Value* old = LoadFrom(s->buffer, access);
  StoreTo(s->buffer, access, values_.Binary(value->op, dtype, old, combined));
  if (done != nullptr) LeaveTo(done);
  return true;
}

// A store to one element by all lanes of what is the same in all of them.
void NestEmitter::EmitUniformStore(const Stmt& s, const Access& access) {
  Value* value = EmitExpr(s->value);
  if (ValueBuilder::LanesOf(value) > 1) {
    return Fail(InvalidInput("the lanes of ", lanes_->var->name, " store different values to one element of ",
                             s->buffer->name));
  }
  llvm::BasicBlock* done = lanes_->mask == nullptr ? nullptr : EnterIfAnyLane();
  StoreTo(s->buffer, access, value);
  if (done != nullptr) LeaveTo(done);
}

// Branches around what follows unless a lane takes part; LeaveTo ends it.
llvm::BasicBlock* NestEmitter::EnterIfAnyLane() {
  llvm::BasicBlock* any = NewBlock("any");
  llvm::BasicBlock* done = NewBlock("done");
  ir_.CreateCondBr(ir_.CreateOrReduce(lanes_->mask), any, done);
  ir_.SetInsertPoint(any);
  return done;
}

void NestEmitter::LeaveTo(llvm::BasicBlock* done) {
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

}  // namespace attune

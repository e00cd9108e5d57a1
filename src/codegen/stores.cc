// Store statements: plain ones, and those by which a vectorized loop reduces across its lanes.
#include <algorithm>

#include "base/status.h"
#include "codegen/emitter.h"
#include "codegen/product.h"
#include "llvm/Analysis/VectorUtils.h"

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
  const int element = LoadsOverwritten(value->args[0], *s)   ? 0
                      : LoadsOverwritten(value->args[1], *s) ? 1
                                                             : -1;
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

// An unrolled loop around a store to neighbours, of which each lane stores all iterations' one after the
// other: the vectors of all iterations are interleaved and stored at once. Returns false, having emitted
// nothing, for a loop of another form.
bool NestEmitter::EmitInterleaved(const Stmt& loop) {
  const Stmt& store = loop->body;
  constexpr int64_t kMost = 4;
  if (store->kind != StmtKind::kStore || lanes_->mask != nullptr || !IsConst(loop->min, 0)) return false;
  const Buffer& buffer = store->buffer;
  const int64_t count = bounds_.Range(loop->extent).max;
  if (count < 2 || count > kMost || buffer->space == MemorySpace::kRegister || DTypeSize(buffer->dtype) > 2)
    return false;
  bounds_.Set(loop->var, {0, count - 1});
  const Affine flat = FlatIndex(buffer, store->indices);
  const Affine::Term *iteration = flat.Find(loop->var), *lane = flat.Find(lanes_->var);
  const Interval range = bounds_.Range(flat);
  bounds_.Unset(loop->var);
  const bool is_dense = iteration != nullptr && iteration->coefficient == 1 && lane != nullptr &&
                        lane->coefficient == count && range.min >= 0 && range.max < buffer->num_elements();
  if (!is_dense || Reads(store->value, buffer)) return false;

  ForgetOperands();
  llvm::SmallVector<Value*, kMost> vectors;
  Value* pointer = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    Bind(loop->var, ir_.getInt64(static_cast<uint64_t>(i)), {i, i});
    memo_.clear();
    if (i == 0) pointer = Locate(buffer, store->indices).pointer;
    vectors.push_back(
        values_.ToMemory(buffer->dtype, values_.Broadcast(EmitExpr(store->value), lanes_->lanes)));
    Unbind(loop->var);
  }
  while (vectors.size() < static_cast<size_t>(llvm::NextPowerOf2(static_cast<uint64_t>(count) - 1)))
    vectors.push_back(llvm::PoisonValue::get(vectors[0]->getType()));
  std::vector<int> places;
  for (int lane_index = 0; lane_index < static_cast<int>(lanes_->lanes); ++lane_index) {
    for (int i = 0; i < static_cast<int>(count); ++i)
      places.push_back(i * static_cast<int>(lanes_->lanes) + lane_index);
  }
  Value* all = llvm::concatenateVectors(ir_, vectors);
  StoreDense(buffer, pointer, ir_.CreateShuffleVector(all, places));
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

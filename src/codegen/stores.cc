#include "codegen/stores.h"

#include <algorithm>

#include "base/status.h"
#include "codegen/indices.h"
#include "codegen/product.h"
#include "llvm/Analysis/VectorUtils.h"

namespace attune {

using llvm::Value;

void StoreEmitter::Emit(const Stmt& s) {
  const Access access = expressions_.Locate(s->buffer, s->indices);
  if (scopes_.lanes() != nullptr && !access.varies()) {
    if (!EmitReduction(s, access)) EmitUniformStore(s, access);
    return;
  }
  memory_.StoreTo(s->buffer, access, expressions_.Emit(s->value));
}

// buffer[i] = op(buffer[i], x) with x different in each lane: combines the lanes, then updates the element.
// Returns false for a store of another form.
bool StoreEmitter::EmitReduction(const Stmt& s, const Access& access) {
  const Expr& value = s->value;
  if (value->kind != ExprKind::kOp || value->args.size() != 2) return false;
  const int element = LoadsOverwritten(value->args[0], *s)   ? 0
                      : LoadsOverwritten(value->args[1], *s) ? 1
                                                             : -1;
  if (element < 0) return false;
  const DType dtype = s->buffer->dtype;
  Value* identity = values_.Identity(value->op, dtype);
  Value* x = values_.Broadcast(expressions_.Emit(value->args[1 - element]), scopes_.lanes()->lanes);
  if (scopes_.lanes()->mask != nullptr) x = values_.Select(scopes_.lanes()->mask, x, identity);
  Value* combined = values_.ReduceLanes(value->op, dtype, x);

  llvm::BasicBlock* done = scopes_.lanes()->mask == nullptr ? nullptr : EnterIfAnyLane();
  Value* old = memory_.LoadFrom(s->buffer, access);
  memory_.StoreTo(s->buffer, access, values_.Binary(value->op, dtype, old, combined));
  if (done != nullptr) LeaveTo(done);
  return true;
}

bool StoreEmitter::EmitInterleaved(const Stmt& loop) {
  const Stmt& store = loop->body;
  constexpr int64_t kMost = 4;
  if (store->kind != StmtKind::kStore || scopes_.lanes()->mask != nullptr || !IsConst(loop->min, 0))
    return false;
  const Buffer& buffer = store->buffer;
  Bounds& bounds = scopes_.bounds();
  const int64_t count = bounds.Range(loop->extent).max;
  if (count < 2 || count > kMost || buffer->space == MemorySpace::kRegister || DTypeSize(buffer->dtype) > 2)
    return false;
  bounds.Set(loop->var, {0, count - 1});
  const Affine flat = FlatIndex(buffer, store->indices, bounds);
  const Affine::Term *iteration = flat.Find(loop->var), *lane = flat.Find(scopes_.lanes()->var);
  const Interval range = bounds.Range(flat);
  bounds.Unset(loop->var);
  const bool is_dense = iteration != nullptr && iteration->coefficient == 1 && lane != nullptr &&
                        lane->coefficient == count && AreInBounds(buffer, range);
  if (!is_dense || Reads(store->value, buffer)) return false;

  llvm::SmallVector<Value*, kMost> vectors;
  Value* pointer = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    scopes_.Bind(loop->var, ir_.getInt64(static_cast<uint64_t>(i)), {i, i});
    expressions_.ForgetValues();
    if (i == 0) pointer = expressions_.Locate(buffer, store->indices).pointer;
    vectors.push_back(values_.ToMemory(
        buffer->dtype, values_.Broadcast(expressions_.Emit(store->value), scopes_.lanes()->lanes)));
    scopes_.Unbind(loop->var);
  }
  while (vectors.size() < static_cast<size_t>(llvm::NextPowerOf2(static_cast<uint64_t>(count) - 1)))
    vectors.push_back(llvm::PoisonValue::get(vectors[0]->getType()));
  std::vector<int> places;
  for (int lane_index = 0; lane_index < static_cast<int>(scopes_.lanes()->lanes); ++lane_index) {
    for (int i = 0; i < static_cast<int>(count); ++i)
      places.push_back(i * static_cast<int>(scopes_.lanes()->lanes) + lane_index);
  }
  Value* all = llvm::concatenateVectors(ir_, vectors);
  memory_.StoreDense(buffer, pointer, ir_.CreateShuffleVector(all, places));
  return true;
}

// A store of a value that is the same in all lanes to one element.
void StoreEmitter::EmitUniformStore(const Stmt& s, const Access& access) {
  Value* value = expressions_.Emit(s->value);
  if (ValueBuilder::LanesOf(value) > 1) {
    values_.Fail(ir_.getInt1Ty(),
                 InvalidInput("the lanes of ", scopes_.lanes()->var->name,
                              " store different values to one element of ", s->buffer->name));
    return;
  }
  llvm::BasicBlock* done = scopes_.lanes()->mask == nullptr ? nullptr : EnterIfAnyLane();
  memory_.StoreTo(s->buffer, access, value);
  if (done != nullptr) LeaveTo(done);
}

// Branches around the code up to LeaveTo() unless a lane takes part.
llvm::BasicBlock* StoreEmitter::EnterIfAnyLane() {
  llvm::BasicBlock* any = scopes_.NewBlock("any");
  llvm::BasicBlock* done = scopes_.NewBlock("done");
  ir_.CreateCondBr(ir_.CreateOrReduce(scopes_.lanes()->mask), any, done);
  ir_.SetInsertPoint(any);
  return done;
}

void StoreEmitter::LeaveTo(llvm::BasicBlock* done) {
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

}  // namespace attune

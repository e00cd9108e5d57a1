// Which unrolled loops read the same elements in several iterations.
//
// Problem: the taps of a convolution read overlapping inputs: with pixels x and taps k unrolled, in[x + k] is
// one element for many pairs. Merged into one load each, as compilers do, these elements stay in registers
// over all taps, beside accumulators that fill the register file already, and are spilled: a store and a
// reload where a broadcast straight from memory would have been free. Idea: find the loops of a reduction
// whose iterations share elements by way of another unrolled loop, and hide from the compiler that the
// pointers of two iterations are equal. Cost: a register and a move for each iteration.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "codegen/emitter.h"

namespace attune {
namespace {

using llvm::Value;

struct Contents {
  std::vector<Stmt> loops;
  std::vector<Stmt> stores;
};

void Collect(const Stmt& s, Contents* contents) {
  if (s == nullptr) return;
  if (s->kind == StmtKind::kFor) contents->loops.push_back(s);
  if (s->kind == StmtKind::kStore) contents->stores.push_back(s);
  Collect(s->body, contents);
  Collect(s->else_body, contents);
  for (const Stmt& child : s->children) Collect(child, contents);
}

bool Uses(const Expr& e, const Var& var) {
  bool uses = false;
  VisitExpr(e, [&](const Expr& part) { uses |= part->kind == ExprKind::kVar && part->var == var; });
  return uses;
}

}  // namespace

const std::vector<const BufferNode*>& NestEmitter::BuffersSharedBetweenIterations(const Stmt& loop) {
  const auto [it, is_new] = shared_buffers_.try_emplace(loop.get());
  std::vector<const BufferNode*>& shared = it->second;
  if (!is_new) return shared;
  Contents contents;
  Collect(loop->body, &contents);
  for (const Stmt& store : contents.stores) {
    // A loop that moves the stores is no reduction: its iterations are parts of the tile.
    for (const Expr& index : store->indices) {
      if (Uses(index, loop->var)) return shared;
    }
  }
  contents.loops.push_back(loop);
  for (const Stmt& inner : contents.loops) bounds_.Set(inner->var, LoopInterval(inner));
  for (const Stmt& store : contents.stores) {
    VisitExpr(store->value, [&](const Expr& e) {
      if (e->kind != ExprKind::kLoad || e->buffer->space == MemorySpace::kRegister) return;
      if (SharesElements(FlatIndex(e->buffer, e->args), contents.loops)) shared.push_back(e->buffer.get());
    });
  }
  for (const Stmt& inner : contents.loops) bounds_.Unset(inner->var);
  return shared;
}

// Whether two iterations of the last loop, `distance` apart, meet in one element at different iterations of
// one of the unrolled loops before it.
bool NestEmitter::SharesElements(const Affine& flat, const std::vector<Stmt>& loops) const {
  const Stmt& reduction = loops.back();
  const Affine::Term* step = flat.Find(reduction->var);
  if (step == nullptr) return false;
  const int64_t iterations = bounds_.Range(reduction->extent).max;
  for (const Stmt& loop : loops) {
    const Affine::Term* term = flat.Find(loop->var);
    if (loop == reduction || term == nullptr || loop->loop != LoopKind::kUnrolled) continue;
    const int64_t extent = bounds_.Range(loop->extent).max;
    for (int64_t distance = 1; distance < iterations; ++distance) {
      const int64_t apart = distance * step->coefficient;
      if (std::abs(apart) >= std::abs(term->coefficient) * extent) break;
      if (apart % term->coefficient == 0) return true;
    }
  }
  return false;
}

// `pointer`, known from the scope at `depth` on, as the iteration that is being emitted shall see it: a copy
// that nothing is known of, where the iteration shares elements of the buffer with others.
Value* NestEmitter::Separate(const BufferNode* buffer, Value* pointer, size_t depth) {
  if (separations_.empty() || depth > separations_.back().depth) return pointer;
  const Separation& iteration = separations_.back();
  const std::vector<const BufferNode*>& shared = *iteration.buffers;
  if (std::find(shared.begin(), shared.end(), buffer) == shared.end()) return pointer;

  Scope& scope = scopes_[iteration.depth];
  for (const Scope::Pointer& known : scope.pointers) {
    if (known.base == pointer && known.terms.empty()) return known.value;
  }
  const llvm::IRBuilder<>::InsertPointGuard guard(ir_);
  ir_.SetInsertPoint(scope.entry->getTerminator());
  Value* copy = target_emitter_.OpaqueCopy(ir_, pointer, RegisterClass::kGeneral,
                                           absl::StrCat("copy ", opaque_copies_++));
  scope.pointers.push_back({pointer, {}, copy});
  return copy;
}

}  // namespace attune

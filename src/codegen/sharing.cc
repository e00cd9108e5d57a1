#include "codegen/sharing.h"

#include <algorithm>
#include <cstdlib>

#include "codegen/indices.h"

namespace attune {
namespace {

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

const std::vector<const BufferNode*>& SharedElements::BetweenIterations(const Stmt& loop) {
  const auto [it, is_new] = known_.try_emplace(loop.get());
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
  for (const Stmt& inner : contents.loops) bounds_.Set(inner->var, LoopInterval(inner, bounds_));
  for (const Stmt& store : contents.stores) {
    VisitExpr(store->value, [&](const Expr& e) {
      if (e->kind != ExprKind::kLoad || e->buffer->space == MemorySpace::kRegister) return;
      if (SharesElements(FlatIndex(e->buffer, e->args, bounds_), contents.loops))
        shared.push_back(e->buffer.get());
    });
  }
  for (const Stmt& inner : contents.loops) bounds_.Unset(inner->var);
  return shared;
}

// Whether two iterations of the last loop, `distance` apart, read the same element at different iterations
// of one of the unrolled loops before it.
bool SharedElements::SharesElements(const Affine& flat, const std::vector<Stmt>& loops) const {
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

}  // namespace attune

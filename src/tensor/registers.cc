#include "tensor/registers.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "tensor/replace_buffers.h"

namespace attune {
namespace {

// Finds the register buffers with an index that is not a constant when it is emitted.
class IndexedBuffers {
 public:
  std::set<Buffer> In(const LoopNest& nest) {
    for (const Stmt& root : nest.roots) Visit(root);
    return std::move(found_);
  }

 private:
  void Visit(const Stmt& s) {
    if (s == nullptr) return;
    for (const Expr& e : {s->value, s->condition, s->min, s->extent}) Visit(e);
    for (const Expr& e : s->indices) Visit(e);
    if (s->buffer) Access(s->buffer, s->indices);
    const bool binds = s->kind == StmtKind::kFor || s->kind == StmtKind::kLet;
    if (binds) {
      const bool is_loop = s->kind == StmtKind::kFor;
      variables_[s->var.get()] = is_loop ? EmitsIterations(*s) && IsEmittedConstant(s->min, variables_)
                                         : IsEmittedConstant(s->value, variables_);
    }
    for (const Stmt& child : s->children) Visit(child);
    Visit(s->body);
    Visit(s->else_body);
    if (binds) variables_.erase(s->var.get());
  }

  void Visit(const Expr& e) {
    if (!e) return;
    VisitExpr(e, [this](const Expr& part) {
      if (part->kind == ExprKind::kLoad) Access(part->buffer, part->args);
    });
  }

  void Access(const Buffer& buffer, const std::vector<Expr>& indices) {
    if (buffer->space != MemorySpace::kRegister) return;
    const bool is_constant = std::ranges::all_of(
        indices, [this](const Expr& index) { return IsEmittedConstant(index, variables_); });
    if (!is_constant) found_.insert(buffer);
  }

  EmittedVariables variables_;
  std::set<Buffer> found_;
};

}  // namespace

bool EmitsIterations(const StmtNode& loop) {
  switch (loop.loop) {
    case LoopKind::kVectorized:
    case LoopKind::kUnrolled:
    case LoopKind::kDot:
    case LoopKind::kMatrix:
      return true;
    default:
      return loop.loop == LoopKind::kSerial && IsConst(loop.extent, 1);
  }
}

bool IsEmittedConstant(const Expr& e, const EmittedVariables& variables) {
  bool is_constant = true;
  VisitExpr(e, [&](const Expr& part) {
    if (part->kind == ExprKind::kLoad) is_constant = false;
    if (part->kind != ExprKind::kVar) return;
    const auto variable = variables.find(part->var.get());
    is_constant &= variable != variables.end() && variable->second;
  });
  return is_constant;
}

bool IsOfTiles(const StmtNode& allocate) {
  const std::function<bool(const Stmt&, bool)> writes = [&](const Stmt& s, bool in_matrix) {
    if (s == nullptr) return false;
    if (s->kind == StmtKind::kStore) return in_matrix && s->buffer == allocate.buffer;
    in_matrix |= s->kind == StmtKind::kFor && s->loop == LoopKind::kMatrix;
    return writes(s->body, in_matrix) || writes(s->else_body, in_matrix) ||
           std::ranges::any_of(s->children, [&](const Stmt& child) { return writes(child, in_matrix); });
  };
  return allocate.buffer->space == MemorySpace::kRegister && writes(allocate.body, false);
}

LoopNest WithIndexedBuffersInMemory(LoopNest nest) {
  std::map<Buffer, Buffer> replaced;
  for (const Buffer& buffer : IndexedBuffers().In(nest))
    replaced[buffer] = MakeOpenBuffer(buffer->name, buffer->dtype, buffer->extents(), MemorySpace::kScratch);
  if (replaced.empty()) return nest;
  return ReplaceBuffers(std::move(nest), replaced);
}

}  // namespace attune

#include "tensor/stmt.h"

#include <utility>

namespace attune {
namespace {

Stmt NewStmt(StmtNode node) { return std::make_shared<const StmtNode>(std::move(node)); }

}  // namespace

std::string_view LoopKindName(LoopKind kind) {
  constexpr std::string_view kNames[] = {"for", "unroll", "vector", "parallel", "dot", "matrix", "bind"};
  return kNames[static_cast<int>(kind)];
}

Stmt MakeStore(const Buffer& buffer, std::vector<Expr> indices, Expr value) {
  StmtNode node;
  node.kind = StmtKind::kStore;
  node.buffer = buffer;
  node.indices = std::move(indices);
  node.value = std::move(value);
  return NewStmt(std::move(node));
}

Stmt MakeFor(const Var& var, Expr min, Expr extent, LoopKind loop, Stmt body) {
  StmtNode node;
  node.kind = StmtKind::kFor;
  node.var = var;
  node.min = std::move(min);
  node.extent = std::move(extent);
  node.loop = loop;
  node.body = std::move(body);
  return NewStmt(std::move(node));
}

Stmt MakeIf(Expr condition, Stmt body, Stmt else_body) {
  StmtNode node;
  node.kind = StmtKind::kIf;
  node.condition = std::move(condition);
  node.body = std::move(body);
  node.else_body = std::move(else_body);
  return NewStmt(std::move(node));
}

Stmt MakeSequence(std::vector<Stmt> children) {
  std::vector<Stmt> flat;
  for (Stmt& child : children) {
    if (child->kind == StmtKind::kSequence) {
      flat.insert(flat.end(), child->children.begin(), child->children.end());
    } else {
      flat.push_back(std::move(child));
    }
  }
  if (flat.size() == 1) return flat[0];
  StmtNode node;
  node.kind = StmtKind::kSequence;
  node.children = std::move(flat);
  return NewStmt(std::move(node));
}

Stmt MakeLet(const Var& var, Expr value, Stmt body) {
  StmtNode node;
  node.kind = StmtKind::kLet;
  node.var = var;
  node.value = std::move(value);
  node.body = std::move(body);
  return NewStmt(std::move(node));
}

Stmt MakeAllocate(const Buffer& buffer, Stmt body) {
  StmtNode node;
  node.kind = StmtKind::kAllocate;
  node.buffer = buffer;
  node.body = std::move(body);
  return NewStmt(std::move(node));
}

Stmt MakeWhile(Expr condition, Stmt body) {
  StmtNode node;
  node.kind = StmtKind::kWhile;
  node.condition = std::move(condition);
  node.body = std::move(body);
  return NewStmt(std::move(node));
}

Stmt MakePrefetch(const Buffer& buffer, std::vector<Expr> indices) {
  StmtNode node;
  node.kind = StmtKind::kPrefetch;
  node.buffer = buffer;
  node.indices = std::move(indices);
  return NewStmt(std::move(node));
}

}  // namespace attune

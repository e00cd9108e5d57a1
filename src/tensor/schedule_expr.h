// Questions about expressions for the parts of the scheduler.
#ifndef ATTUNE_TENSOR_SCHEDULE_EXPR_H_
#define ATTUNE_TENSOR_SCHEDULE_EXPR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tensor/affine.h"
#include "tensor/compute.h"

namespace attune {

std::set<const VarNode*> Variables(const Expr& e);
bool Mentions(const Expr& e, const Var& var);
bool MentionsAny(const Expr& e, const std::set<const VarNode*>& vars);

// Appends the parts of a && b && c to `out`.
void Conjuncts(const Expr& e, std::vector<Expr>& out);

// Whether two indices are the same, as far as they can be told apart.
bool AreEqual(const Expr& a, const Expr& b, const Bounds& bounds);

// Whether an index is known to lie in [0, extent).
bool IsWithin(const Expr& index, const Extent& extent, const Bounds& bounds);

// How many blocks of `block` iterations there are, the last of which may not be full.
struct Quotient {
  Extent extent;
  bool is_exact;  // known to have full blocks only
};
Quotient DivideUp(const Bounds& bounds, const Extent& extent, int64_t block);

// One index while some loops go through their iterations: base + [low, high].
struct Span {
  bool full = false;  // or anything
  bool guarded =
      false;    // by a condition on the iterations, which may be computed beyond their end all the same
  Affine base;  // by variables of the loops outside
  int64_t low = 0, high = 0;
};
// `inner` are the variables of these loops.
Span SpanOf(const Expr& index, const Bounds& bounds, const std::set<const VarNode*>& inner);

// `e`, which may be null, with some variables replaced.
Expr ReplaceVars(const Expr& e, const std::map<const VarNode*, Expr>& values);

// Visits what a stage computes by formulas: its value and its condition.
void VisitFormulas(const Stage& stage, const std::function<void(const Expr&)>& visit);

// The buffer of that name that the stage's value reads, or null.
Buffer FindRead(const Stage& stage, const std::string& name);

// Adds every buffer that an expression (or null) reads, and that a statement (or null) reads or writes.
void CollectBuffers(const Expr& e, std::set<const BufferNode*>& used);
void CollectBuffers(const Stmt& s, std::set<const BufferNode*>& used);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_EXPR_H_

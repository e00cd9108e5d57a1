#include "tensor/schedule_expr.h"

#include <algorithm>

#include "base/checked.h"

namespace attune {
std::set<const VarNode*> Variables(const Expr& e) {
  std::set<const VarNode*> vars;
  VisitExpr(e, [&](const Expr& x) {
    if (x->kind == ExprKind::kVar) vars.insert(x->var.get());
  });
  return vars;
}

bool Mentions(const Expr& e, const Var& var) {
  bool found = false;
  VisitExpr(e, [&](const Expr& x) { found |= x->kind == ExprKind::kVar && x->var == var; });
  return found;
}

bool MentionsAny(const Expr& e, const std::set<const VarNode*>& vars) {
  bool found = false;
  VisitExpr(e, [&](const Expr& x) { found |= x->kind == ExprKind::kVar && vars.contains(x->var.get()); });
  return found;
}

void Conjuncts(const Expr& e, std::vector<Expr>& out) {
  if (e->kind == ExprKind::kOp && e->op == MathOp::kAnd && e->dtype == DType::kBool) {
    Conjuncts(e->args[0], out);
    Conjuncts(e->args[1], out);
  } else {
    out.push_back(e);
  }
}

Expr ReplaceVars(const Expr& e, const std::map<const VarNode*, Expr>& values) {
  if (!e) return e;
  ExprRewriter rewriter;
  rewriter.var = [&](const Var& v) {
    const auto it = values.find(v.get());
    return it == values.end() ? Expr() : it->second;
  };
  return Rewrite(e, rewriter);
}

void VisitFormulas(const Stage& stage, const std::function<void(const Expr&)>& visit) {
  for (const Expr& formula : {stage.value, stage.where}) {
    if (formula) VisitExpr(formula, visit);
  }
}

bool AreEqual(const Expr& a, const Expr& b, const Bounds& bounds) {
  Affine difference = bounds.Normalize(a);
  difference.Add(bounds.Normalize(b), -1);
  return difference.is_constant() && difference.constant == 0;
}

bool IsWithin(const Expr& index, const Extent& extent, const Bounds& bounds) {
  return bounds.Prove(index >= Expr(int64_t{0})) == true && bounds.Prove(index < extent.expr()) == true;
}

Quotient DivideUp(const Bounds& bounds, const Extent& extent, int64_t block) {
  const int64_t bound = CeilDiv(extent.bound(), block);
  if (!extent.is_open()) return {bound, extent.bound() % block == 0};
  Affine size = bounds.Normalize(extent.expr());
  const bool is_exact = size.constant % block == 0 && std::ranges::all_of(size.terms, [&](const auto& term) {
                          return term.coefficient % block == 0;
                        });
  if (!is_exact) size.constant += block - 1;
  return {Extent(ToExpr(bounds.Normalize(FloorDiv(ToExpr(size), block))), bound), is_exact};
}

Span SpanOf(const Expr& index, const Bounds& bounds, const std::set<const VarNode*>& inner) {
  Span span;
  Affine varying;
  const Affine index_form = bounds.Normalize(index);
  span.base.constant = index_form.constant;
  for (const Affine::Term& term : index_form.terms) {
    (MentionsAny(term.atom, inner) ? varying : span.base).terms.push_back(term);
  }
  const Interval range = bounds.Range(varying);
  const bool is_open = std::ranges::any_of(varying.terms, [&](const Affine::Term& term) {
    return std::ranges::any_of(Variables(term.atom), [&](const VarNode* var) { return bounds.HasEnd(var); });
  });
  span.full = is_open || range.min <= Interval::kLow || range.max >= Interval::kHigh;
  span.low = range.min;
  span.high = range.max;
  return span;
}

Buffer FindRead(const Stage& stage, const std::string& name) {
  Buffer found;
  if (!stage.value) return found;
  VisitExpr(stage.value, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad && e->buffer->name == name) found = e->buffer;
  });
  return found;
}

void CollectBuffers(const Expr& e, std::set<const BufferNode*>& used) {
  if (!e) return;
  VisitExpr(e, [&](const Expr& x) {
    if (x->kind == ExprKind::kLoad) used.insert(x->buffer.get());
  });
}

void CollectBuffers(const Stmt& s, std::set<const BufferNode*>& used) {
  if (s == nullptr) return;
  if (s->buffer) used.insert(s->buffer.get());
  for (const Expr& e : {s->value, s->condition, s->min, s->extent}) CollectBuffers(e, used);
  for (const Expr& e : s->indices) CollectBuffers(e, used);
  for (const Stmt& child : s->children) CollectBuffers(child, used);
  CollectBuffers(s->body, used);
  CollectBuffers(s->else_body, used);
}

}  // namespace attune

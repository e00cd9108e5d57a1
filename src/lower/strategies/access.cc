#include "lower/strategies/access.h"

#include <algorithm>
#include <map>

#include "base/checked.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

int Suits(std::optional<int64_t> stride) { return stride == 1 ? 2 : stride == 0 ? 1 : -2; }

}  // namespace

Bounds AxisBounds(const Stage& stage) {
  Bounds bounds;
  for (const auto* axes : {&stage.axes, &stage.reduce_axes}) {
    for (const Axis& a : *axes) bounds.Set(a.var, {a.min, a.min + std::max<int64_t>(a.extent - 1, 0)});
  }
  return bounds;
}

std::optional<int64_t> StrideAlong(const Expr& load, const Var& var, const Bounds& bounds) {
  const std::vector<int64_t> strides = load->buffer->strides();
  int64_t stride = 0;
  for (size_t d = 0; d < load->args.size(); ++d) {
    for (const Affine::Term& term : bounds.Normalize(load->args[d]).terms) {
      if (term.atom->kind == ExprKind::kVar) {
        if (term.atom->var == var) stride += term.coefficient * strides[d];
        continue;
      }
      bool inside = false;
      VisitExpr(term.atom, [&](const Expr& e) { inside |= e->kind == ExprKind::kVar && e->var == var; });
      if (inside) return std::nullopt;
    }
  }
  return stride;
}

void VisitLoads(const Stage& stage, const std::function<void(const Expr&)>& visit) {
  VisitFormulas(stage, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad) visit(e);
  });
}

int Contiguity(const Stage& stage, const Axis& axis) {
  const Bounds bounds = AxisBounds(stage);
  int score = 0;
  VisitLoads(stage, [&](const Expr& load) { score += Suits(StrideAlong(load, axis.var, bounds)); });
  return score;
}

int Contiguity(const Stage& stage, const Axis& axis, int64_t width) {
  const Var vector = MakeVar("vector"), lane = MakeVar("lane");
  Bounds bounds = AxisBounds(stage);
  bounds.Set(vector, {0, std::max<int64_t>(CeilDiv(axis.extent, width) - 1, 0)});
  bounds.Set(lane, {0, width - 1});
  const std::map<const VarNode*, Expr> split = {
      {axis.var.get(), Expr(vector) * width + Expr(lane) + Expr(axis.min)}};
  int score = 0;
  VisitLoads(stage,
             [&](const Expr& load) { score += Suits(StrideAlong(ReplaceVars(load, split), lane, bounds)); });
  return score;
}

bool CanFuse(const Stage& stage, const Axis& outer, const Axis& inner) {
  const auto place = [&](const Axis& axis) {
    size_t d = 0;
    while (stage.axes[d].var != axis.var) ++d;
    return d;
  };
  const Buffer& output = stage.output;
  const std::vector<int64_t> strides = output->strides();
  // A part of an axis does not run into the next row.
  if (inner.min != 0 || inner.extent != output->shape[place(inner)]) return false;
  if (strides[place(outer)] != strides[place(inner)] * inner.extent) return false;
  if (stage.where) return false;
  const Bounds bounds = AxisBounds(stage);
  bool fits = true;
  bool mentions_axis_alone = false;
  const std::function<void(const Expr&)> visit = [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad) {
      const auto a = StrideAlong(e, outer.var, bounds), b = StrideAlong(e, inner.var, bounds);
      if (!a || !b || *a != *b * inner.extent) fits = false;
      return;
    }
    if (e->kind == ExprKind::kVar && (e->var == outer.var || e->var == inner.var)) mentions_axis_alone = true;
    for (const Expr& arg : e->args) visit(arg);
  };
  visit(stage.value);
  return fits && !mentions_axis_alone;
}

int64_t LanesOf(const Stage& stage, int vector_bits) {
  int bytes = DTypeSize(stage.output->dtype);
  VisitExpr(stage.value, [&](const Expr& e) {
    if (e->dtype != DType::kI64 && e->dtype != DType::kBool) bytes = std::max(bytes, DTypeSize(e->dtype));
  });
  return vector_bits / 8 / bytes;
}

int64_t WorkOf(const Stage& stage) {
  int64_t work = 1;
  for (const Axis& axis : stage.axes) work *= axis.extent;
  for (const Axis& axis : stage.reduce_axes) work *= axis.extent;
  return work;
}

bool IsExpensive(const Stage& stage) {
  if (!stage.value) return false;
  bool expensive = false;
  VisitExpr(stage.value, [&](const Expr& e) {
    if (e->kind == ExprKind::kOp)
      expensive |= e->op == MathOp::kPow || (e->op >= MathOp::kExp && e->op <= MathOp::kSilu);
  });
  return expensive;
}

}  // namespace attune

#include "tensor/schedule/overcompute.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

bool Intersect(const std::set<const VarNode*>& a, const std::set<const VarNode*>& b) {
  return std::any_of(a.begin(), a.end(), [&](const VarNode* v) { return b.contains(v); });
}

}  // namespace

absl::Status OvercomputeStage(LoopTree& tree, const std::string& name) {
  ASSIGN_OR_RETURN(ScheduledStage* const state, tree.FindStage(name));
  if (!state->local) return InvalidInput("overcompute: stage '", name, "' is not computed at a loop");
  const Bounds bounds = tree.LoopBounds();
  using Vars = std::set<const VarNode*>;
  // Indices that conditions alone keep within their buffers: those that do not depend on an axis or a loop of
  // a condition are what they are without it, though one loop may be fused of both.
  struct Beyond {
    Vars axes, loops;
    absl::Status status;
  };
  std::vector<Beyond> beyond;
  VisitExpr(state->stage.value, [&](const Expr& e) {
    if (e->kind != ExprKind::kLoad) return;
    const Expr load = tree.Resolve(*state, e);  // of a region, where that is all there is
    for (size_t i = 0; i < e->args.size(); ++i) {
      const Interval range = bounds.Range(load->args[i]);
      if (range.min >= 0 && range.max < load->buffer->shape[i]) continue;
      beyond.push_back({Variables(e->args[i]), Variables(load->args[i]),
                        InvalidInput("overcompute: stage '", name, "' would read beyond axis ", i, " of '",
                                     e->buffer->name, "'")});
    }
  });
  // Conditions on axes alone guard the output's end; those with reduce axes choose terms and stay.
  Vars reduce_axes, reduce_loops;
  for (const Axis& axis : state->stage.reduce_axes) reduce_axes.insert(axis.var.get());
  for (const StageLoop& loop : state->loops) {
    if (loop.reduce) reduce_loops.insert(loop.var.get());
  }
  absl::Status needed;   // why a condition is
  bool is_free = false;  // of one
  const auto is_needed = [&](const Vars& vars, Vars Beyond::* member) {
    const auto index =
        std::ranges::find_if(beyond, [&](const Beyond& one) { return Intersect(one.*member, vars); });
    if (index != beyond.end()) needed.Update(index->status);
    is_free |= index == beyond.end();
    return index != beyond.end();
  };
  Expr kept;
  std::vector<Expr> parts, guards;
  if (state->stage.where) Conjuncts(state->stage.where, parts);
  for (const Expr& part : parts) {
    const Vars axes = Variables(part);
    if (Intersect(axes, reduce_axes) || is_needed(axes, &Beyond::axes)) kept = kept ? And(kept, part) : part;
  }
  // The axis whose end a guard keeps, or null: known by its value, whichever loops that is made of.
  const auto axis_of = [&](const Expr& guard) -> const VarNode* {
    if (guard->kind != ExprKind::kOp || guard->args.empty()) return nullptr;
    const auto axis = std::ranges::find_if(state->stage.axes, [&](const Axis& one) {
      return AreEqual(guard->args[0], state->axis_values[one.var.get()], bounds);
    });
    return axis == state->stage.axes.end() ? nullptr : axis->var.get();
  };
  for (const Expr& guard : state->guards) {
    const Vars loops = Variables(guard);
    const VarNode* const axis = axis_of(guard);
    const bool needed_here =
        axis == nullptr ? is_needed(loops, &Beyond::loops) : is_needed({axis}, &Beyond::axes);
    if (Intersect(loops, reduce_loops) || needed_here) guards.push_back(guard);
  }
  if (!is_free) RETURN_IF_ERROR(needed);
  for (size_t i = 0; i < state->stage.axes.size(); ++i) {
    const Expr& value = state->axis_values[state->stage.axes[i].var.get()];
    const Interval range = bounds.Range(value - state->region_min[i]);
    if (range.min < 0 || range.max >= state->local->shape[i])
      return InvalidInput("overcompute: stage '", name, "' would write beyond axis ", i, " of its region");
  }
  state->stage.where = kept;
  state->guards = std::move(guards);
  return absl::OkStatus();
}

}  // namespace attune

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

bool Intersect(const std::set<const VarNode*>& a, const std::set<const VarNode*>& b) {
  return std::any_of(a.begin(), a.end(), [&](const VarNode* v) { return b.contains(v); });
}

using Vars = std::set<const VarNode*>;

// An index that stays within its buffer only because of conditions. A condition on other axes or loops than
// those of the index does not matter to it. Axes tell more than loops, since one loop may be fused from
// several axes.
struct Beyond {
  Vars axes, loops;
  absl::Status status;  // why its conditions are needed
};

std::vector<Beyond> ReadsBeyond(const LoopTree& tree, const ScheduledStage& state) {
  const Bounds bounds = tree.LoopBounds();
  std::vector<Beyond> beyond;
  VisitExpr(state.stage.value, [&](const Expr& e) {
    if (e->kind != ExprKind::kLoad) return;
    const Expr load = tree.Resolve(state, e);  // reads the local buffer of an attached stage
    for (size_t i = 0; i < e->args.size(); ++i) {
      if (IsWithin(load->args[i], load->buffer->extent(i), bounds)) continue;
      beyond.push_back({Variables(e->args[i]), Variables(load->args[i]),
                        InvalidInput("overcompute: stage '", state.stage.name, "' would read beyond axis ", i,
                                     " of '", e->buffer->name, "'")});
    }
  });
  return beyond;
}

// Decides which conditions are needed to stay within buffers.
class Needs {
 public:
  explicit Needs(std::vector<Beyond> beyond) : beyond_(std::move(beyond)) {}

  // Whether a condition on these variables, axes or loops, is needed.
  bool Has(const Vars& vars, Vars Beyond::* member) {
    const auto index =
        std::ranges::find_if(beyond_, [&](const Beyond& one) { return Intersect(one.*member, vars); });
    if (index != beyond_.end()) needed_.Update(index->status);
    is_free_ |= index == beyond_.end();
    return index != beyond_.end();
  }

  // An error if all conditions so far are needed.
  absl::Status status() const { return is_free_ ? absl::OkStatus() : needed_; }

 private:
  std::vector<Beyond> beyond_;
  absl::Status needed_;
  bool is_free_ = false;
};

// The axis that a guard bounds, recognized by its value in terms of loops; null if there is none.
const VarNode* AxisOf(const Expr& guard, const ScheduledStage& state, const Bounds& bounds) {
  if (guard->kind != ExprKind::kOp || guard->args.empty()) return nullptr;
  const auto axis = std::ranges::find_if(state.stage.axes, [&](const Axis& one) {
    return AreEqual(guard->args[0], state.axis_values.at(one.var.get()), bounds);
  });
  return axis == state.stage.axes.end() ? nullptr : axis->var.get();
}

}  // namespace

absl::Status OvercomputeStage(LoopTree& tree, ScheduledStage& state) {
  const std::string& name = state.stage.name;
  if (!state.local) return InvalidInput("overcompute: stage '", name, "' is not computed at a loop");
  const Bounds bounds = tree.LoopBounds();
  // Conditions on axes alone guard the output's end; those with reduce axes choose terms and stay.
  Vars reduce_axes, reduce_loops;
  for (const Axis& axis : state.stage.reduce_axes) reduce_axes.insert(axis.var.get());
  for (const StageLoop& loop : state.loops) {
    if (loop.reduce) reduce_loops.insert(loop.var.get());
  }
  Needs needs(ReadsBeyond(tree, state));
  Expr kept;
  std::vector<Expr> parts, guards;
  if (state.stage.where) Conjuncts(state.stage.where, parts);
  for (const Expr& part : parts) {
    const Vars axes = Variables(part);
    if (Intersect(axes, reduce_axes) || needs.Has(axes, &Beyond::axes)) kept = kept ? And(kept, part) : part;
  }
  for (const Expr& guard : state.guards) {
    const Vars loops = Variables(guard);
    const VarNode* const axis = AxisOf(guard, state, bounds);
    const bool is_needed =
        axis == nullptr ? needs.Has(loops, &Beyond::loops) : needs.Has({axis}, &Beyond::axes);
    if (Intersect(loops, reduce_loops) || is_needed) guards.push_back(guard);
  }
  RETURN_IF_ERROR(needs.status());
  for (size_t i = 0; i < state.stage.axes.size(); ++i) {
    const Expr& value = state.axis_values[state.stage.axes[i].var.get()];
    if (!IsWithin(value - state.region_min[i], state.local->extent(i), bounds))
      return InvalidInput("overcompute: stage '", name, "' would write beyond axis ", i, " of its region");
  }
  state.stage.where = kept;
  state.guards = std::move(guards);
  return absl::OkStatus();
}

}  // namespace attune

#include "tensor/schedule/loop_tree.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

template <typename Stage, typename Stages>
absl::StatusOr<Stage*> FindStageIn(Stages& stages, const std::string& name) {
  for (auto& state : stages) {
    if (state.stage.name == name && !state.inlined) return &state;
  }
  return InvalidInput("no stage '", name, "'");
}

template <typename Stage, typename Stages>
absl::StatusOr<BasicLoopRef<Stage>> FindLoopIn(Stages& stages, const std::string& name) {
  for (auto& state : stages) {
    for (size_t i = 0; i < state.loops.size(); ++i) {
      if (state.loops[i].name == name && !state.inlined) return BasicLoopRef<Stage>{&state, i};
    }
  }
  return InvalidInput("no loop '", name, "'");
}

}  // namespace

LoopTree::LoopTree(ComputeDef def) : def_(std::move(def)) {
  for (Stage& stage : def_.stages) {
    ScheduledStage& state = stages_.emplace_back();
    state.stage = std::move(stage);
    ResetLoops(state);
  }
  def_.stages.clear();
}

absl::StatusOr<ScheduledStage*> LoopTree::FindStage(const std::string& name) {
  return FindStageIn<ScheduledStage>(stages_, name);
}

absl::StatusOr<const ScheduledStage*> LoopTree::FindStage(const std::string& name) const {
  return FindStageIn<const ScheduledStage>(stages_, name);
}

absl::StatusOr<LoopRef> LoopTree::FindLoop(const std::string& name) {
  return FindLoopIn<ScheduledStage>(stages_, name);
}

absl::StatusOr<ConstLoopRef> LoopTree::FindLoop(const std::string& name) const {
  return FindLoopIn<const ScheduledStage>(stages_, name);
}

ConstLoopRef LoopTree::LoopOf(const Var& var) const {
  for (const ScheduledStage& state : stages_) {
    for (size_t i = 0; i < state.loops.size(); ++i) {
      if (state.loops[i].var == var) return {&state, i};
    }
  }
  return {nullptr, 0};
}

const ScheduledStage* LoopTree::AttachedStageOf(const Buffer& buffer) const {
  for (const ScheduledStage& state : stages_) {
    if (state.local && state.stage.output == buffer) return &state;
  }
  return nullptr;
}

bool LoopTree::IsParameter(const Buffer& buffer) const {
  return std::ranges::any_of(def_.params, [&](const LoopNest::Param& p) { return p.buffer == buffer; });
}

void LoopTree::ResetLoops(ScheduledStage& state) {
  const std::vector<StageLoop> before = std::exchange(state.loops, {});
  state.axis_values.clear();
  state.guards.clear();
  const auto add = [&](const Axis& axis, const Extent& extent, bool reduce) -> Expr {
    StageLoop loop;
    loop.name = absl::StrCat(state.stage.name, ".", axis.var->name);
    const auto same = std::ranges::find(before, loop.name, &StageLoop::name);
    loop.var = same == before.end() ? MakeVar(loop.name) : same->var;
    loop.extent = extent;
    loop.reduce = reduce;
    state.loops.push_back(loop);
    return Expr(loop.var);
  };
  for (size_t i = 0; i < state.stage.axes.size(); ++i) {
    const Axis& axis = state.stage.axes[i];
    Expr value = add(axis, state.local ? state.local->extent(i) : axis.extent, false);
    state.axis_values[axis.var.get()] = state.local ? state.region_min[i] + value : value + axis.min.expr();
  }
  for (const Axis& axis : state.stage.reduce_axes)
    state.axis_values[axis.var.get()] = add(axis, axis.extent, true);
}

void LoopTree::InsertBefore(const ScheduledStage& state, ScheduledStage added) {
  const auto place = std::ranges::find_if(stages_, [&](const ScheduledStage& one) { return &one == &state; });
  stages_.insert(place, std::move(added));
}

void LoopTree::ReplaceVariable(const Var& var, const Expr& value) {
  const std::map<const VarNode*, Expr> values = {{var.get(), value}};
  for (ScheduledStage& state : stages_) {
    for (auto& [axis, e] : state.axis_values) e = ReplaceVars(e, values);
    for (Expr& guard : state.guards) guard = ReplaceVars(guard, values);
    for (Expr& min : state.region_min) min = ReplaceVars(min, values);
  }
}

Bounds LoopTree::LoopBounds() const {
  Bounds bounds;
  for (const SizeParam& size : def_.sizes) bounds.Set(size.var, {size.min, size.max});
  for (const ScheduledStage& state : stages_) {
    for (const StageLoop& loop : state.loops) {
      const Interval range = {0, std::max<int64_t>(loop.extent.bound() - 1, 0)};
      bounds.Set(loop.var, range, loop.extent.is_open() ? loop.extent.expr() : Expr());
    }
  }
  return bounds;
}

Expr LoopTree::Resolve(const ScheduledStage& state, const Expr& e) const {
  const Bounds bounds = LoopBounds();
  ExprRewriter rewriter;
  rewriter.var = [&](const Var& var) {
    const auto it = state.axis_values.find(var.get());
    return it == state.axis_values.end() ? Expr() : it->second;
  };
  rewriter.load = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    const ScheduledStage* producer = AttachedStageOf(buffer);
    std::vector<Expr> simple;
    for (size_t i = 0; i < indices.size(); ++i) {
      const Expr index = producer == nullptr ? indices[i] : indices[i] - producer->region_min[i];
      simple.push_back(ToExpr(bounds.Normalize(index)));
    }
    return Load(producer == nullptr ? buffer : producer->local, std::move(simple));
  };
  return Rewrite(e, rewriter);
}

absl::Status LoopTree::CheckNothingComputedAt(const StageLoop& loop, std::string_view op) const {
  for (const ScheduledStage& state : stages_) {
    if (state.attached_to == loop.var && !state.inlined)
      return InvalidInput(op, ": stage '", state.stage.name, "' is computed at '", loop.name, "'");
  }
  return absl::OkStatus();
}

absl::Status LoopTree::CheckNothingComputedAt(const ScheduledStage& state, std::string_view op) const {
  for (const StageLoop& loop : state.loops) RETURN_IF_ERROR(CheckNothingComputedAt(loop, op));
  return absl::OkStatus();
}

absl::Status LoopTree::CheckPlain(const StageLoop& loop, std::string_view op) const {
  if (loop.kind != LoopKind::kSerial || loop.peel_front > 0 || loop.peel_back > 0)
    return InvalidInput(op, ": loop '", loop.name, "' is marked or peeled already");
  return CheckNothingComputedAt(loop, op);
}

absl::Status LoopTree::CheckReadByFormulas(const ScheduledStage& state, std::string_view op) const {
  for (const ScheduledStage& other : stages_) {
    if (&other == &state) continue;
    if (other.stage.output == state.stage.output)
      return InvalidInput(op, ": stage '", state.stage.name, "' computes a part of its output only");
    std::set<const BufferNode*> used;
    CollectBuffers(other.stage.body, used);
    if (used.contains(state.stage.output.get()))
      return InvalidInput(op, ": stage '", state.stage.name, "' is read by imperative stage '",
                          other.stage.name, "'");
  }
  return absl::OkStatus();
}

absl::Status LoopTree::CheckNewName(std::string_view name, std::string_view op) const {
  for (const ScheduledStage& state : stages_) {
    if (state.stage.name == name && !state.inlined)
      return InvalidInput(op, ": there is a stage '", name, "' already");
  }
  return absl::OkStatus();
}

}  // namespace attune

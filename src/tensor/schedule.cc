// The primitives, but for those that move a stage (schedule_compute_at.cc).
#include "tensor/schedule.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "base/status.h"

namespace attune {
namespace {

bool Mentions(const Expr& e, const Var& var) {
  bool found = false;
  VisitExpr(e, [&](const Expr& x) { found |= x->kind == ExprKind::kVar && x->var == var; });
  return found;
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

Expr ReplaceBuffer(const Expr& e, const Buffer& from, const Buffer& to) {
  if (!e) return e;
  ExprRewriter rewriter;
  rewriter.load = [&](const Buffer& b, const std::vector<Expr>& indices) {
    return b == from ? Load(to, indices) : Expr();
  };
  return Rewrite(e, rewriter);
}

// Fresh axes of the same names and extents, and what each old variable is now.
std::vector<Axis> CopyAxes(const std::vector<Axis>& axes, std::map<const VarNode*, Expr>& values) {
  std::vector<Axis> copies;
  for (const Axis& axis : axes) {
    copies.push_back({MakeVar(axis.var->name), axis.extent, axis.min});
    values[axis.var.get()] = Expr(copies.back().var);
  }
  return copies;
}

}  // namespace

Schedule::Schedule(ComputeDef def) : def_(std::move(def)) {
  for (Stage& stage : def_.stages) {
    auto state = std::make_unique<StageState>();
    state->stage = std::move(stage);
    ResetLoops(*state);
    stages_.push_back(std::move(state));
  }
  def_.stages.clear();
}

absl::StatusOr<Schedule> Schedule::Replay(ComputeDef def, const std::vector<Primitive>& trace) {
  Schedule schedule(std::move(def));
  for (const Primitive& primitive : trace) RETURN_IF_ERROR(schedule.Apply(primitive));
  return schedule;
}

// One serial loop for each axis; an attached stage's cover the region only.
void Schedule::ResetLoops(StageState& state) const {
  state.loops.clear();
  state.axis_values.clear();
  state.guards.clear();
  const auto add = [&](const Axis& axis, int64_t extent, bool reduce) -> Expr {
    Loop loop;
    loop.name = absl::StrCat(state.stage.name, ".", axis.var->name);
    loop.var = MakeVar(loop.name);
    loop.extent = extent;
    loop.reduce = reduce;
    state.loops.push_back(loop);
    return Expr(loop.var);
  };
  for (size_t i = 0; i < state.stage.axes.size(); ++i) {
    const Axis& axis = state.stage.axes[i];
    Expr value = add(axis, state.local ? state.local->shape[i] : axis.extent, false);
    state.axis_values[axis.var.get()] = state.local ? state.region_min[i] + value : value + Expr(axis.min);
  }
  for (const Axis& axis : state.stage.reduce_axes)
    state.axis_values[axis.var.get()] = add(axis, axis.extent, true);
}

absl::StatusOr<Schedule::StageState*> Schedule::FindStage(const std::string& name) {
  for (const auto& state : stages_) {
    if (state->stage.name == name && !state->inlined) return state.get();
  }
  return InvalidInput("no stage '", name, "'");
}

absl::StatusOr<Schedule::LoopRef> Schedule::FindLoop(const std::string& name) {
  for (const auto& state : stages_) {
    for (size_t i = 0; i < state->loops.size(); ++i) {
      if (state->loops[i].name == name && !state->inlined) return LoopRef{state.get(), i};
    }
  }
  return InvalidInput("no loop '", name, "'");
}

absl::StatusOr<const Schedule::Loop*> Schedule::FindLoop(const std::string& name) const {
  ASSIGN_OR_RETURN(const LoopRef ref, const_cast<Schedule*>(this)->FindLoop(name));
  return &ref.state->loops[ref.index];
}

absl::StatusOr<int64_t> Schedule::Extent(const std::string& loop) const {
  ASSIGN_OR_RETURN(const Loop* found, FindLoop(loop));
  return found->extent;
}

std::vector<Stage> Schedule::Stages() const {
  std::vector<Stage> stages;
  for (const auto& state : stages_) {
    if (!state->inlined) stages.push_back(state->stage);
  }
  return stages;
}

absl::StatusOr<std::vector<std::string>> Schedule::Loops(const std::string& stage) const {
  ASSIGN_OR_RETURN(const StageState* state, const_cast<Schedule*>(this)->FindStage(stage));
  std::vector<std::string> names;
  for (const Loop& loop : state->loops) names.push_back(loop.name);
  return names;
}

// Replaces a loop's variable wherever it occurs: in its own stage and in the regions of those computed
// inside.
void Schedule::Substitute(StageState& state, const Var& var, const Expr& value) {
  const std::map<const VarNode*, Expr> values = {{var.get(), value}};
  for (auto& [axis, e] : state.axis_values) e = ReplaceVars(e, values);
  for (Expr& guard : state.guards) guard = ReplaceVars(guard, values);
  for (Expr& min : state.region_min) min = ReplaceVars(min, values);
}

absl::Status Schedule::SplitImpl(const Primitive& p) {
  const int64_t factor = p.numbers[0];
  ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(p.names[0]));
  const Loop loop = ref.state->loops[ref.index];
  if (factor < 1) return InvalidInput("split: factor ", factor, " of loop '", loop.name, "' is not positive");
  for (const auto& state : stages_) {
    if (state->attached_to == loop.name)
      return InvalidInput("split: stage '", state->stage.name, "' is computed at '", loop.name, "'");
  }
  Loop outer = loop, inner = loop;
  outer.name = loop.name + ".o";
  inner.name = loop.name + ".i";
  outer.var = MakeVar(outer.name);
  inner.var = MakeVar(inner.name);
  outer.extent = CeilDiv(loop.extent, factor);
  inner.extent = factor;
  const Expr value = Expr(outer.var) * factor + Expr(inner.var);
  for (const auto& state : stages_) Substitute(*state, loop.var, value);
  if (loop.extent % factor != 0) ref.state->guards.push_back(value < Expr(loop.extent));
  auto& loops = ref.state->loops;
  loops[ref.index] = outer;
  loops.insert(loops.begin() + static_cast<ptrdiff_t>(ref.index) + 1, inner);
  return absl::OkStatus();
}

absl::Status Schedule::FuseImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef a, FindLoop(p.names[0]));
  ASSIGN_OR_RETURN(const LoopRef b, FindLoop(p.names[1]));
  if (a.state != b.state || a.index + 1 != b.index) {
    return InvalidInput("fuse: '", p.names[1], "' is not directly inside '", p.names[0], "'");
  }
  auto& loops = a.state->loops;
  const Loop outer = loops[a.index], inner = loops[b.index];
  if (outer.reduce != inner.reduce)
    return InvalidInput("fuse: only one of '", outer.name, "' and '", inner.name, "' reduces");
  for (const auto& state : stages_) {
    if (state->attached_to == outer.name || state->attached_to == inner.name) {
      return InvalidInput("fuse: stage '", state->stage.name, "' is computed at '", state->attached_to, "'");
    }
  }
  Loop fused = outer;
  fused.name = p.names[2];
  fused.var = MakeVar(fused.name);
  fused.extent = outer.extent * inner.extent;
  const int64_t width = std::max<int64_t>(inner.extent, 1);
  for (const auto& state : stages_) {
    Substitute(*state, outer.var, FloorDiv(Expr(fused.var), width));
    Substitute(*state, inner.var, FloorMod(Expr(fused.var), width));
  }
  loops[a.index] = fused;
  loops.erase(loops.begin() + static_cast<ptrdiff_t>(b.index));
  return absl::OkStatus();
}

absl::Status Schedule::ReorderImpl(const Primitive& p) {
  std::vector<size_t> places;
  StageState* state = nullptr;
  std::vector<Loop> picked;
  for (const std::string& name : p.names) {
    ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(name));
    if (state != nullptr && ref.state != state)
      return InvalidInput("reorder: '", name, "' belongs to another stage");
    state = ref.state;
    places.push_back(ref.index);
    picked.push_back(state->loops[ref.index]);
    for (const auto& other : stages_) {
      if (other->attached_to == name)
        return InvalidInput("reorder: stage '", other->stage.name, "' is computed at '", name, "'");
    }
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end())
    return InvalidInput("reorder: a loop is named twice");
  for (size_t i = 0; i < places.size(); ++i) state->loops[places[i]] = picked[i];
  return absl::OkStatus();
}

absl::Status Schedule::MarkImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(p.names[0]));
  Loop& loop = ref.state->loops[ref.index];
  if (loop.kind != LoopKind::kSerial) return InvalidInput(p.op, ": loop '", loop.name, "' is marked already");
  if (p.op == "parallel") {
    if (loop.reduce) return InvalidInput("parallel: loop '", loop.name, "' reduces");
    if (ref.index != 0 || !ref.state->attached_to.empty()) {
      return InvalidInput("parallel: loop '", loop.name, "' is not the outermost loop of a root stage");
    }
  }
  loop.kind = p.op == "unroll"      ? LoopKind::kUnrolled
              : p.op == "vectorize" ? LoopKind::kVectorized
              : p.op == "parallel"  ? LoopKind::kParallel
                                    : LoopKind::kBound;
  if (p.op == "bind") loop.binding = p.names[1];
  return absl::OkStatus();
}

absl::Status Schedule::PeelImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(p.names[0]));
  Loop& loop = ref.state->loops[ref.index];
  if (p.numbers[0] < 0 || p.numbers[1] < 0) return InvalidInput("peel: negative count");
  if (loop.kind != LoopKind::kSerial) return InvalidInput("peel: loop '", loop.name, "' is not serial");
  loop.peel_front = std::min(p.numbers[0], loop.extent);
  loop.peel_back = std::min(p.numbers[1], loop.extent - loop.peel_front);
  return absl::OkStatus();
}

absl::Status Schedule::InlineImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const state, FindStage(p.names[0]));
  const Stage& stage = state->stage;
  if (stage.is_reduction() || stage.is_imperative()) {
    return InvalidInput("inline: stage '", stage.name, "' is no formula");
  }
  for (const LoopNest::Param& param : def_.params) {
    if (param.buffer == stage.output) return InvalidInput("inline: stage '", stage.name, "' is an output");
  }
  ExprRewriter rewriter;
  rewriter.load = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    if (buffer != stage.output) return Expr();
    std::map<const VarNode*, Expr> values;
    for (size_t i = 0; i < indices.size(); ++i) values[stage.axes[i].var.get()] = indices[i];
    return ReplaceVars(stage.value, values);
  };
  for (const auto& other : stages_) {
    if (other.get() == state || other->inlined) continue;
    if (other->stage.value) other->stage.value = Rewrite(other->stage.value, rewriter);
    if (other->stage.where) other->stage.where = Rewrite(other->stage.where, rewriter);
  }
  state->inlined = true;
  return absl::OkStatus();
}

absl::Status Schedule::CacheWriteImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const state, FindStage(p.names[0]));
  Stage& stage = state->stage;
  if (stage.is_imperative()) return InvalidInput("cache_write: stage '", stage.name, "' is imperative");
  if (!state->attached_to.empty())
    return InvalidInput("cache_write: stage '", stage.name, "' is computed at a loop already");
  auto computed = std::make_unique<StageState>();
  computed->stage = stage;
  computed->stage.name = stage.name + ".acc";
  computed->stage.output = MakeBuffer(computed->stage.name, stage.output->dtype, stage.output->shape);
  Stage copy;
  copy.name = stage.name;
  copy.output = stage.output;
  std::map<const VarNode*, Expr> values;
  copy.axes = CopyAxes(stage.axes, values);
  std::vector<Expr> indices;
  for (const Axis& axis : copy.axes) indices.push_back(Expr(axis.var));
  copy.value = Load(computed->stage.output, indices);
  stage = std::move(copy);
  ResetLoops(*state);
  ResetLoops(*computed);
  const auto place =
      std::find_if(stages_.begin(), stages_.end(), [&](const auto& s) { return s.get() == state; });
  stages_.insert(place, std::move(computed));
  return absl::OkStatus();
}

absl::Status Schedule::CacheReadImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const reader, FindStage(p.names[1]));
  Buffer source;
  VisitExpr(reader->stage.value, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad && e->buffer->name == p.names[0]) source = e->buffer;
  });
  if (!source) return InvalidInput("cache_read: stage '", p.names[1], "' does not read '", p.names[0], "'");
  auto cache = std::make_unique<StageState>();
  cache->stage.name = absl::StrCat(p.names[0], ".", p.names[1]);
  cache->stage.output = MakeBuffer(cache->stage.name, source->dtype, source->shape);
  std::vector<Expr> indices;
  for (size_t i = 0; i < source->shape.size(); ++i) {
    cache->stage.axes.push_back({MakeVar(absl::StrCat("i", i)), source->shape[i]});
    indices.push_back(Expr(cache->stage.axes.back().var));
  }
  cache->stage.value = Load(source, indices);
  ResetLoops(*cache);
  reader->stage.value = ReplaceBuffer(reader->stage.value, source, cache->stage.output);
  reader->stage.where = ReplaceBuffer(reader->stage.where, source, cache->stage.output);
  const auto place =
      std::find_if(stages_.begin(), stages_.end(), [&](const auto& s) { return s.get() == reader; });
  stages_.insert(place, std::move(cache));
  return absl::OkStatus();
}

absl::Status Schedule::RfactorImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const state, FindStage(p.names[0]));
  ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(p.names[1]));
  Stage& stage = state->stage;
  if (ref.state != state || !state->loops[ref.index].reduce) {
    return InvalidInput("rfactor: '", p.names[1], "' is no reduce loop of stage '", p.names[0], "'");
  }
  if (!state->attached_to.empty())
    return InvalidInput("rfactor: stage '", stage.name, "' is computed at a loop already");
  // The new stage has the old one's axes and the loop as axes; every other reduce loop reduces.
  auto factored = std::make_unique<StageState>();
  Stage& rf = factored->stage;
  rf.name = stage.name + ".rf";
  rf.combiner = stage.combiner;
  rf.init = stage.init;
  std::map<const VarNode*, Expr> loop_values, axis_values;
  rf.axes = CopyAxes(stage.axes, axis_values);
  for (const Loop& loop : state->loops) {
    if (!loop.reduce) continue;
    const Axis axis{MakeVar(loop.name.substr(stage.name.size() + 1)), loop.extent};
    loop_values[loop.var.get()] = Expr(axis.var);
    (loop.name == p.names[1] ? rf.axes : rf.reduce_axes).push_back(axis);
  }
  if (rf.reduce_axes.empty()) return InvalidInput("rfactor: '", p.names[1], "' is the only reduce loop");
  for (const Axis& axis : stage.reduce_axes) {
    axis_values[axis.var.get()] = ReplaceVars(state->axis_values[axis.var.get()], loop_values);
  }
  rf.value = ReplaceVars(stage.value, axis_values);
  rf.where = ReplaceVars(stage.where, axis_values);
  for (const Expr& guard : state->guards) {
    bool reduces = false;
    for (const Loop& loop : state->loops) reduces |= loop.reduce && Mentions(guard, loop.var);
    if (!reduces) continue;
    const Expr renamed = ReplaceVars(guard, loop_values);
    rf.where = rf.where ? And(rf.where, renamed) : renamed;
  }
  std::vector<int64_t> shape = stage.output->shape;
  shape.push_back(rf.axes.back().extent);
  rf.output = MakeBuffer(rf.name, stage.output->dtype, shape);
  ResetLoops(*factored);

  const Axis lane{MakeVar(rf.axes.back().var->name), rf.axes.back().extent};
  std::vector<Expr> indices;
  for (const Axis& axis : stage.axes) indices.push_back(Expr(axis.var));
  indices.push_back(Expr(lane.var));
  stage.reduce_axes = {lane};
  stage.value = Load(rf.output, indices);
  stage.where = Expr();
  ResetLoops(*state);
  const auto place =
      std::find_if(stages_.begin(), stages_.end(), [&](const auto& s) { return s.get() == state; });
  stages_.insert(place, std::move(factored));
  return absl::OkStatus();
}

absl::Status Schedule::PrefetchImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(p.names[1]));
  Loop& loop = ref.state->loops[ref.index];
  Buffer buffer;
  VisitExpr(ref.state->stage.value, [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad && e->buffer->name == p.names[0]) buffer = e->buffer;
  });
  if (!buffer)
    return InvalidInput("prefetch: stage '", ref.state->stage.name, "' does not read '", p.names[0], "'");
  if (loop.kind != LoopKind::kSerial) return InvalidInput("prefetch: loop '", loop.name, "' is not serial");
  loop.prefetches.emplace_back(p.names[0], p.numbers[0]);
  return absl::OkStatus();
}

}  // namespace attune

// The state of a schedule, and the primitives that transform loops.
#include "tensor/schedule.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

// Traces may come from anywhere: these keep the arithmetic on extents from overflowing.
constexpr int64_t kMaxFactor = 1 << 30;
constexpr int64_t kMaxExtent = int64_t{1} << 40;

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

absl::StatusOr<Schedule::StageState*> Schedule::FindStage(const std::string& name) const {
  for (const auto& state : stages_) {
    if (state->stage.name == name && !state->inlined) return state.get();
  }
  return InvalidInput("no stage '", name, "'");
}

absl::StatusOr<Schedule::LoopRef> Schedule::FindLoop(const std::string& name) const {
  for (const auto& state : stages_) {
    for (size_t i = 0; i < state->loops.size(); ++i) {
      if (state->loops[i].name == name && !state->inlined) return LoopRef{state.get(), i};
    }
  }
  return InvalidInput("no loop '", name, "'");
}

absl::StatusOr<int64_t> Schedule::Extent(const std::string& loop) const {
  ASSIGN_OR_RETURN(const LoopRef ref, FindLoop(loop));
  return ref.state->loops[ref.index].extent;
}

std::vector<Stage> Schedule::Stages() const {
  std::vector<Stage> stages;
  for (const auto& state : stages_) {
    if (!state->inlined) stages.push_back(state->stage);
  }
  return stages;
}

absl::StatusOr<std::vector<std::string>> Schedule::Loops(const std::string& stage) const {
  ASSIGN_OR_RETURN(const StageState* state, FindStage(stage));
  std::vector<std::string> names;
  for (const Loop& loop : state->loops) names.push_back(loop.name);
  return names;
}

absl::Status Schedule::CheckNothingComputedAt(std::string_view loop, std::string_view op) const {
  for (const auto& state : stages_) {
    if (state->attached_to == loop && !state->inlined)
      return InvalidInput(op, ": stage '", state->stage.name, "' is computed at '", loop, "'");
  }
  return absl::OkStatus();
}

absl::Status Schedule::CheckNothingComputedAt(const StageState& state, std::string_view op) const {
  for (const Loop& loop : state.loops) RETURN_IF_ERROR(CheckNothingComputedAt(loop.name, op));
  return absl::OkStatus();
}

absl::Status Schedule::CheckPlain(const Loop& loop, std::string_view op) const {
  if (loop.kind != LoopKind::kSerial || loop.peel_front > 0 || loop.peel_back > 0)
    return InvalidInput(op, ": loop '", loop.name, "' is marked or peeled already");
  return CheckNothingComputedAt(loop.name, op);
}

absl::Status Schedule::CheckReadByFormulas(const StageState& state, std::string_view op) const {
  for (const auto& other : stages_) {
    if (other.get() == &state) continue;
    if (other->stage.output == state.stage.output)
      return InvalidInput(op, ": stage '", state.stage.name, "' computes a part of its output only");
    std::set<const BufferNode*> used;
    CollectBuffers(other->stage.body, used);
    if (used.contains(state.stage.output.get()))
      return InvalidInput(op, ": stage '", state.stage.name, "' is read by imperative stage '",
                          other->stage.name, "'");
  }
  return absl::OkStatus();
}

absl::Status Schedule::CheckNewName(std::string_view name, std::string_view op) const {
  for (const auto& state : stages_) {
    if (state->stage.name == name && !state->inlined)
      return InvalidInput(op, ": there is a stage '", name, "' already");
  }
  return absl::OkStatus();
}

void Schedule::InsertBefore(const StageState& state, std::unique_ptr<StageState> added) {
  const auto place = std::ranges::find(stages_, &state, &std::unique_ptr<StageState>::get);
  stages_.insert(place, std::move(added));
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
  const bool overlapping = p.op == "split_overlapping";
  if (factor < 1)
    return InvalidInput(p.op, ": factor ", factor, " of loop '", loop.name, "' is not positive");
  if (factor > (overlapping ? loop.extent : kMaxFactor))
    return InvalidInput(p.op, ": factor ", factor, " of loop '", loop.name, "' is too large");
  RETURN_IF_ERROR(CheckPlain(loop, p.op));
  Loop outer = loop, inner = loop;
  outer.name = loop.name + ".o";
  inner.name = loop.name + ".i";
  outer.var = MakeVar(outer.name);
  inner.var = MakeVar(inner.name);
  outer.extent = CeilDiv(loop.extent, factor);
  inner.extent = factor;
  const bool even = loop.extent % factor == 0;
  const Expr begin = Expr(outer.var) * factor;
  const Expr first = overlapping && !even ? Min(begin, Expr(loop.extent - factor)) : begin;
  const Expr value = first + Expr(inner.var);
  for (const auto& state : stages_) Substitute(*state, loop.var, value);
  if (!even) ref.state->guards.push_back(overlapping ? value >= begin : value < Expr(loop.extent));
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
  RETURN_IF_ERROR(CheckPlain(outer, p.op));
  RETURN_IF_ERROR(CheckPlain(inner, p.op));
  const std::optional<int64_t> extent = CheckedMul(outer.extent, inner.extent);
  if (!extent || *extent > kMaxExtent)
    return InvalidInput("fuse: '", outer.name, "' and '", inner.name, "' have too many iterations");
  Loop fused = outer;
  fused.name = p.names[2];
  if (fused.name != outer.name && fused.name != inner.name && FindLoop(fused.name).ok())
    return InvalidInput("fuse: there is a loop '", fused.name, "' already");
  fused.var = MakeVar(fused.name);
  fused.extent = *extent;
  // A loop of one iteration leaves the other as it is: a quotient would be hard to see through once the loop
  // is split and its last iterations guarded.
  const int64_t width = std::max<int64_t>(inner.extent, 1);
  const Expr whole(fused.var), zero(int64_t{0});
  for (const auto& state : stages_) {
    Substitute(*state, outer.var, outer.extent == 1 ? zero : width == 1 ? whole : FloorDiv(whole, width));
    Substitute(*state, inner.var, outer.extent == 1 ? whole : width == 1 ? zero : FloorMod(whole, width));
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
    RETURN_IF_ERROR(CheckNothingComputedAt(name, p.op));
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end())
    return InvalidInput("reorder: a loop is named twice");
  for (size_t i = 0; i < places.size(); ++i) {
    if (picked[i].kind == LoopKind::kParallel && places[i] != 0)
      return InvalidInput("reorder: parallel loop '", picked[i].name, "' would not be outermost");
  }
  // What is computed at a loop depends on which loops are around it.
  for (size_t i = places.front(); i < places.back(); ++i) {
    RETURN_IF_ERROR(CheckNothingComputedAt(state->loops[i].name, p.op));
  }
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
    if (loop.peel_front + loop.peel_back > 0)
      return InvalidInput("parallel: loop '", loop.name, "' is peeled");
  }
  if (p.op == "dot") {
    if (!loop.reduce) return InvalidInput("dot: loop '", loop.name, "' does not reduce");
    const auto& loops = ref.state->loops;
    if (ref.index + 1 != loops.size() || ref.index == 0 || loops[ref.index - 1].kind != LoopKind::kVectorized)
      return InvalidInput("dot: loop '", loop.name, "' is not the innermost, directly in a vectorized one");
  }
  if (p.op == "matrix") {
    if (loop.reduce) return InvalidInput("matrix: loop '", loop.name, "' reduces");
    const auto& loops = ref.state->loops;
    bool has_columns = false;
    for (size_t i = ref.index + 1; i < loops.size(); ++i) {
      if (loops[i].kind == LoopKind::kSerial)
        return InvalidInput("matrix: loop '", loops[i].name, "' inside of '", loop.name, "' is not marked");
      has_columns |= loops[i].kind == LoopKind::kVectorized;
    }
    if (!has_columns) return InvalidInput("matrix: no loop inside of '", loop.name, "' is vectorized");
  }
  loop.kind = p.op == "unroll"      ? LoopKind::kUnrolled
              : p.op == "vectorize" ? LoopKind::kVectorized
              : p.op == "parallel"  ? LoopKind::kParallel
              : p.op == "dot"       ? LoopKind::kDot
              : p.op == "matrix"    ? LoopKind::kMatrix
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

}  // namespace attune

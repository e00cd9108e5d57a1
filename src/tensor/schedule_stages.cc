// The primitives that add, replace and remove stages.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "tensor/schedule.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

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

absl::Status Schedule::InlineImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const state, FindStage(p.names[0]));
  const Stage& stage = state->stage;
  if (stage.is_reduction() || stage.is_imperative()) {
    return InvalidInput("inline: stage '", stage.name, "' is no formula");
  }
  for (const LoopNest::Param& param : def_.params) {
    if (param.buffer == stage.output) return InvalidInput("inline: stage '", stage.name, "' is an output");
  }
  if (!state->attached_to.empty())
    return InvalidInput("inline: stage '", stage.name, "' is computed at a loop already");
  RETURN_IF_ERROR(CheckNothingComputedAt(*state, p.op));
  RETURN_IF_ERROR(CheckReadByFormulas(*state, p.op));
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
  RETURN_IF_ERROR(CheckNothingComputedAt(*state, p.op));
  RETURN_IF_ERROR(CheckNewName(stage.name + ".acc", p.op));
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
  InsertBefore(*state, std::move(computed));
  return absl::OkStatus();
}

absl::Status Schedule::CacheReadImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const reader, FindStage(p.names[1]));
  const Buffer source = FindRead(reader->stage, p.names[0]);
  if (!source) return InvalidInput("cache_read: stage '", p.names[1], "' does not read '", p.names[0], "'");
  if (reader->follows())
    return InvalidInput("cache_read: stage '", p.names[1], "' is computed after another one");
  if (AttachedStageOf(source) != nullptr)
    return InvalidInput("cache_read: '", p.names[0], "' is computed at a loop");
  RETURN_IF_ERROR(CheckNewName(absl::StrCat(p.names[0], ".", p.names[1]), p.op));
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
  InsertBefore(*reader, std::move(cache));
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
  RETURN_IF_ERROR(CheckNothingComputedAt(*state, p.op));
  RETURN_IF_ERROR(CheckNewName(stage.name + ".rf", p.op));
  const auto rank = static_cast<int64_t>(stage.axes.size());
  const int64_t place = p.numbers[0] == kLast ? rank : p.numbers[0];
  if (place < 0 || place > rank)
    return InvalidInput("rfactor: stage '", stage.name, "' can have no axis ", place, " more");
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
    const bool prefixed = loop.name.starts_with(stage.name + ".");
    const Axis axis{MakeVar(prefixed ? loop.name.substr(stage.name.size() + 1) : loop.name), loop.extent};
    loop_values[loop.var.get()] = Expr(axis.var);
    if (loop.name == p.names[1]) {
      rf.axes.insert(rf.axes.begin() + place, axis);
    } else {
      rf.reduce_axes.push_back(axis);
    }
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
  const Axis& reduced = rf.axes[static_cast<size_t>(place)];
  shape.insert(shape.begin() + place, reduced.extent);
  rf.output = MakeBuffer(rf.name, stage.output->dtype, shape);
  ResetLoops(*factored);

  const Axis last{MakeVar(reduced.var->name), reduced.extent};
  std::vector<Expr> indices;
  for (const Axis& axis : stage.axes) indices.push_back(Expr(axis.var));
  indices.insert(indices.begin() + place, Expr(last.var));
  stage.reduce_axes = {last};
  stage.value = Load(rf.output, indices);
  stage.where = Expr();
  ResetLoops(*state);
  InsertBefore(*state, std::move(factored));
  return absl::OkStatus();
}

}  // namespace attune

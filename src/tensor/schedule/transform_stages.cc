#include <map>
#include <utility>

#include "base/status.h"
#include "tensor/schedule/transforms.h"
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

// Fresh axes with the same names and extents; adds the new variable of each old one to `values`.
std::vector<Axis> CopyAxes(const std::vector<Axis>& axes, std::map<const VarNode*, Expr>& values) {
  std::vector<Axis> copies;
  for (const Axis& axis : axes) {
    copies.push_back({MakeVar(axis.var->name), axis.extent, axis.min});
    values[axis.var.get()] = Expr(copies.back().var);
  }
  return copies;
}

// The stage that reduces along all reduce loops of the old stage except `loop_name`, which becomes axis
// number `place`. It has no output yet.
absl::StatusOr<ScheduledStage> FactoredStage(const ScheduledStage& state, const std::string& loop_name,
                                             int64_t place) {
  const Stage& stage = state.stage;
  ScheduledStage factored;
  Stage& rf = factored.stage;
  rf.name = stage.name + ".rf";
  rf.combiner = stage.combiner;
  rf.init = stage.init;
  std::map<const VarNode*, Expr> loop_values, axis_values;
  rf.axes = CopyAxes(stage.axes, axis_values);
  for (const StageLoop& loop : state.loops) {
    if (!loop.reduce) continue;
    const bool prefixed = loop.name.starts_with(stage.name + ".");
    const Axis axis{MakeVar(prefixed ? loop.name.substr(stage.name.size() + 1) : loop.name), loop.extent};
    loop_values[loop.var.get()] = Expr(axis.var);
    if (loop.name == loop_name) {
      rf.axes.insert(rf.axes.begin() + place, axis);
    } else {
      rf.reduce_axes.push_back(axis);
    }
  }
  if (rf.reduce_axes.empty()) return InvalidInput("rfactor: '", loop_name, "' is the only reduce loop");
  for (const Axis& axis : stage.reduce_axes) {
    axis_values[axis.var.get()] = ReplaceVars(state.axis_values.at(axis.var.get()), loop_values);
  }
  rf.value = ReplaceVars(stage.value, axis_values);
  rf.where = ReplaceVars(stage.where, axis_values);
  for (const Expr& guard : state.guards) {
    bool reduces = false;
    for (const StageLoop& loop : state.loops) reduces |= loop.reduce && Mentions(guard, loop.var);
    if (!reduces) continue;
    const Expr renamed = ReplaceVars(guard, loop_values);
    rf.where = rf.where ? And(rf.where, renamed) : renamed;
  }
  return factored;
}

}  // namespace

absl::Status InlineStage(LoopTree& tree, ScheduledStage& inlined) {
  const Stage& stage = inlined.stage;
  if (stage.is_reduction() || stage.is_imperative()) {
    return InvalidInput("inline: stage '", stage.name, "' is not a formula");
  }
  if (tree.IsParameter(stage.output)) return InvalidInput("inline: stage '", stage.name, "' is an output");
  if (inlined.attached_to)
    return InvalidInput("inline: stage '", stage.name, "' is computed at a loop already");
  RETURN_IF_ERROR(tree.CheckNothingComputedAt(inlined, "inline"));
  RETURN_IF_ERROR(tree.CheckReadByFormulas(inlined, "inline"));
  ExprRewriter rewriter;
  rewriter.load = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    if (buffer != stage.output) return Expr();
    std::map<const VarNode*, Expr> values;
    for (size_t i = 0; i < indices.size(); ++i) values[stage.axes[i].var.get()] = indices[i];
    return ReplaceVars(stage.value, values);
  };
  for (ScheduledStage& other : tree.stages()) {
    if (&other == &inlined || other.inlined) continue;
    if (other.stage.value) other.stage.value = Rewrite(other.stage.value, rewriter);
    if (other.stage.where) other.stage.where = Rewrite(other.stage.where, rewriter);
  }
  inlined.inlined = true;
  return absl::OkStatus();
}

absl::Status CacheWrite(LoopTree& tree, ScheduledStage& cached) {
  Stage& stage = cached.stage;
  if (stage.is_imperative()) return InvalidInput("cache_write: stage '", stage.name, "' is imperative");
  if (cached.attached_to)
    return InvalidInput("cache_write: stage '", stage.name, "' is computed at a loop already");
  RETURN_IF_ERROR(tree.CheckNothingComputedAt(cached, "cache_write"));
  RETURN_IF_ERROR(tree.CheckNewName(stage.name + ".acc", "cache_write"));
  ScheduledStage computed;
  computed.stage = stage;
  computed.stage.name = stage.name + ".acc";
  computed.stage.output = MakeOpenBuffer(computed.stage.name, stage.output->dtype, stage.output->extents());
  Stage copy;
  copy.name = stage.name;
  copy.output = stage.output;
  std::map<const VarNode*, Expr> values;
  copy.axes = CopyAxes(stage.axes, values);
  std::vector<Expr> indices;
  for (const Axis& axis : copy.axes) indices.push_back(Expr(axis.var));
  copy.value = Load(computed.stage.output, indices);
  stage = std::move(copy);
  LoopTree::ResetLoops(cached);
  LoopTree::ResetLoops(computed);
  tree.InsertBefore(cached, std::move(computed));
  return absl::OkStatus();
}

absl::Status CacheRead(LoopTree& tree, const std::string& buffer, ScheduledStage& reader) {
  const std::string& stage = reader.stage.name;
  const Buffer source = FindRead(reader.stage, buffer);
  if (!source) return InvalidInput("cache_read: stage '", stage, "' does not read '", buffer, "'");
  if (reader.follows()) return InvalidInput("cache_read: stage '", stage, "' is computed after another one");
  if (tree.AttachedStageOf(source) != nullptr)
    return InvalidInput("cache_read: '", buffer, "' is computed at a loop");
  RETURN_IF_ERROR(tree.CheckNewName(absl::StrCat(buffer, ".", stage), "cache_read"));
  ScheduledStage cache;
  cache.stage.name = absl::StrCat(buffer, ".", stage);
  cache.stage.output = MakeOpenBuffer(cache.stage.name, source->dtype, source->extents());
  std::vector<Expr> indices;
  for (size_t i = 0; i < source->rank(); ++i) {
    cache.stage.axes.push_back({MakeVar(absl::StrCat("i", i)), source->extent(i)});
    indices.push_back(Expr(cache.stage.axes.back().var));
  }
  cache.stage.value = Load(source, indices);
  LoopTree::ResetLoops(cache);
  reader.stage.value = ReplaceBuffer(reader.stage.value, source, cache.stage.output);
  reader.stage.where = ReplaceBuffer(reader.stage.where, source, cache.stage.output);
  tree.InsertBefore(reader, std::move(cache));
  return absl::OkStatus();
}

absl::Status FactorReduction(LoopTree& tree, ScheduledStage& reduction, LoopRef loop, int64_t axis) {
  Stage& stage = reduction.stage;
  const std::string loop_name = loop.loop().name;
  if (loop.state != &reduction || !loop.loop().reduce)
    return InvalidInput("rfactor: '", loop_name, "' is not a reduce loop of stage '", stage.name, "'");
  if (reduction.attached_to)
    return InvalidInput("rfactor: stage '", stage.name, "' is computed at a loop already");
  RETURN_IF_ERROR(tree.CheckNothingComputedAt(reduction, "rfactor"));
  RETURN_IF_ERROR(tree.CheckNewName(stage.name + ".rf", "rfactor"));
  const auto rank = static_cast<int64_t>(stage.axes.size());
  const int64_t place = axis == kLastAxis ? rank : axis;
  if (place < 0 || place > rank)
    return InvalidInput("rfactor: stage '", stage.name, "' can have no axis ", place, " more");
  ASSIGN_OR_RETURN(ScheduledStage factored, FactoredStage(reduction, loop_name, place));
  Stage& rf = factored.stage;
  std::vector<Extent> shape = stage.output->extents();
  const Axis& reduced = rf.axes[static_cast<size_t>(place)];
  shape.insert(shape.begin() + place, reduced.extent);
  rf.output = MakeOpenBuffer(rf.name, stage.output->dtype, shape);
  LoopTree::ResetLoops(factored);

  const Axis last{MakeVar(reduced.var->name), reduced.extent};
  std::vector<Expr> indices;
  for (const Axis& one : stage.axes) indices.push_back(Expr(one.var));
  indices.insert(indices.begin() + place, Expr(last.var));
  stage.reduce_axes = {last};
  stage.value = Load(rf.output, indices);
  stage.where = Expr();
  LoopTree::ResetLoops(reduction);
  tree.InsertBefore(reduction, std::move(factored));
  return absl::OkStatus();
}

}  // namespace attune

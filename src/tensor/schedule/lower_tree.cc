#include "tensor/schedule/lower_tree.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "tensor/registers.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

Stmt Guarded(const std::vector<Expr>& conditions, Stmt body) {
  if (conditions.empty()) return body;
  Expr all = conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) all = And(all, conditions[i]);
  return MakeIf(all, std::move(body));
}

// Lowers one stage with everything that is computed at its loops.
class Lowering {
 public:
  Lowering(const LoopTree& tree, const ScheduledStage& state) : tree_(tree), state_(state) {
    const auto& loops = state.loops;
    first_reduce_ = static_cast<size_t>(
        std::find_if(loops.begin(), loops.end(), [](const StageLoop& l) { return l.reduce; }) -
        loops.begin());
    conditions_.resize(loops.size() + 1);
    for (const Expr& guard : state.guards) conditions_[Depth(guard)].push_back(guard);
    if (state.stage.where) {
      std::vector<Expr> parts;
      Conjuncts(tree.Resolve(state, state.stage.where), parts);
      // The terms of a reduction are skipped, its initialization is not.
      const size_t least = state.stage.is_reduction() ? first_reduce_ + 1 : 0;
      for (const Expr& part : parts) conditions_[std::max(Depth(part), least)].push_back(part);
    }
    const Bounds bounds = tree.LoopBounds();
    buffer_ = state.local ? state.local : state.stage.output;
    for (size_t i = 0; i < state.stage.axes.size(); ++i) {
      const Expr& value = state.axis_values.at(state.stage.axes[i].var.get());
      indices_.push_back(ToExpr(bounds.Normalize(state.local ? value - state.region_min[i] : value)));
    }
  }

  Stmt Run() const { return Build(0); }

 private:
  // How many loops must be open for all variables of `e` to be bound.
  size_t Depth(const Expr& e) const {
    size_t depth = 0;
    for (size_t i = 0; i < state_.loops.size(); ++i) {
      if (Mentions(e, state_.loops[i].var)) depth = i + 1;
    }
    return depth;
  }

  // The statement inside the first i loops.
  Stmt Build(size_t i) const {
    Stmt inner = i == state_.loops.size() ? Innermost() : Loops(i);
    if (state_.stage.is_reduction() && i == first_reduce_) inner = MakeSequence({Initialization(), inner});
    if (i > 0) inner = WithAttached(state_.loops[i - 1], std::move(inner));
    return Guarded(conditions_[i], std::move(inner));
  }

  Stmt Innermost() const {
    Expr value = tree_.Resolve(state_, state_.stage.value);
    if (state_.stage.is_reduction()) value = MakeOp(state_.stage.combiner, {Load(buffer_, indices_), value});
    return MakeStore(buffer_, indices_, value);
  }

  // Loop i, with the copies that peeling asks for.
  Stmt Loops(size_t i) const {
    const StageLoop& loop = state_.loops[i];
    const Stmt body = Build(i + 1);
    if (loop.peel_front == 0 && loop.peel_back == 0) return For(loop, 0, loop.extent.expr(), loop.kind, body);
    if (loop.extent.is_open()) {
      const Expr rest = loop.extent.expr() - loop.full_blocks;
      return MakeSequence({For(loop, 0, loop.full_blocks, loop.kind, body),
                           For(loop, loop.full_blocks, rest, LoopKind::kSerial, body)});
    }
    std::vector<Stmt> parts;
    const int64_t middle = loop.extent - loop.peel_front - loop.peel_back;
    if (loop.peel_front > 0) parts.push_back(For(loop, 0, loop.peel_front, LoopKind::kUnrolled, body));
    if (middle > 0) parts.push_back(For(loop, loop.peel_front, middle, loop.kind, body));
    if (loop.peel_back > 0) {
      parts.push_back(For(loop, loop.extent - loop.peel_back, loop.peel_back, LoopKind::kUnrolled, body));
    }
    return parts.empty() ? MakeSequence({}) : MakeSequence(std::move(parts));
  }

  static Stmt For(const StageLoop& loop, const Expr& min, const Expr& extent, LoopKind kind,
                  const Stmt& body) {
    Stmt made = MakeFor(loop.var, min, extent, kind, body);
    if (kind != LoopKind::kBound) return made;
    StmtNode node = *made;
    node.binding = loop.binding;
    return std::make_shared<const StmtNode>(std::move(node));
  }

  // output = init over the axes' loops that lie inside the first reduce loop.
  Stmt Initialization() const {
    std::vector<Expr> conditions;
    for (const Expr& guard : state_.guards) {
      bool reduces = false;
      for (const StageLoop& loop : state_.loops) reduces |= loop.reduce && Mentions(guard, loop.var);
      if (!reduces && Depth(guard) > first_reduce_) conditions.push_back(guard);
    }
    Stmt nest = Guarded(conditions, MakeStore(buffer_, indices_, state_.stage.init));
    for (size_t i = state_.loops.size(); i-- > first_reduce_;) {
      const StageLoop& loop = state_.loops[i];
      if (!loop.reduce) nest = For(loop, 0, loop.extent.expr(), loop.kind, nest);
    }
    return nest;
  }

  Stmt WithAttached(const StageLoop& loop, Stmt inner) const {
    for (const ScheduledStage& follower : tree_.stages()) {
      if (follower.attached_to == loop.var && follower.follows())
        inner = MakeSequence({std::move(inner), Lowering(tree_, follower).Run()});
    }
    std::vector<Stmt> statements = PrefetchesAt(tree_, state_, loop);
    if (!statements.empty()) {
      statements.push_back(std::move(inner));
      inner = MakeSequence(std::move(statements));
    }
    for (auto it = tree_.stages().rbegin(); it != tree_.stages().rend(); ++it) {
      const ScheduledStage& producer = *it;
      if (producer.attached_to != loop.var || producer.follows()) continue;
      inner = MakeAllocate(producer.local, MakeSequence({Lowering(tree_, producer).Run(), std::move(inner)}));
    }
    return inner;
  }

  const LoopTree& tree_;
  const ScheduledStage& state_;
  size_t first_reduce_;
  std::vector<std::vector<Expr>> conditions_;  // by the number of open loops
  Buffer buffer_;
  std::vector<Expr> indices_;
};

// Adds the buffers that a stage and the stages computed at its loops read from outside of them.
void CollectReads(const LoopTree& tree, const ScheduledStage& state, std::set<const BufferNode*>& reads) {
  CollectBuffers(state.stage.body, reads);
  const auto visit = [&](const Expr& e) {
    if (e->kind == ExprKind::kLoad && tree.AttachedStageOf(e->buffer) == nullptr)
      reads.insert(e->buffer.get());
  };
  VisitFormulas(state.stage, visit);
  for (const ScheduledStage& other : tree.stages()) {
    const bool inside = std::ranges::any_of(
        state.loops, [&](const StageLoop& loop) { return loop.var == other.attached_to; });
    if (inside && !other.inlined) CollectReads(tree, other, reads);
  }
}

}  // namespace

std::vector<PrepackableStage> PrepackableStages(const LoopTree& tree) {
  std::vector<PrepackableStage> prepackable;
  for (const ScheduledStage& state : tree.stages()) {
    if (state.inlined || state.attached_to || state.stage.is_imperative() || state.stage.output->is_open())
      continue;
    const bool writes_all = std::ranges::none_of(tree.stages(), [&](const ScheduledStage& other) {
      return &other != &state && other.stage.output == state.stage.output;
    });
    if (!writes_all) continue;
    std::set<const BufferNode*> reads;
    CollectReads(tree, state, reads);
    const auto is_param = [&](const BufferNode* buffer, BufferRole role) {
      return std::ranges::any_of(tree.def().params, [&](const LoopNest::Param& p) {
        return p.buffer.get() == buffer && p.role == role;
      });
    };
    if (reads.size() == 1 && is_param(*reads.begin(), BufferRole::kInput) &&
        !is_param(state.stage.output.get(), BufferRole::kOutput)) {
      prepackable.push_back({state.stage.name, (*reads.begin())->name});
    }
  }
  return prepackable;
}

absl::StatusOr<LoopNest> LowerPrepacking(const LoopTree& tree, const std::string& stage) {
  ASSIGN_OR_RETURN(const ScheduledStage* state, tree.FindStage(stage));
  std::set<const BufferNode*> reads;
  CollectReads(tree, *state, reads);
  LoopNest nest;
  nest.name = absl::StrCat(tree.def().name, ".", stage);
  for (const LoopNest::Param& param : tree.def().params) {
    if (reads.contains(param.buffer.get())) nest.params.push_back(param);
  }
  nest.params.push_back({state->stage.output, BufferRole::kOutput});
  nest.roots = {Lowering(tree, *state).Run()};
  return WithIndexedBuffersInMemory(std::move(nest));
}

absl::StatusOr<LoopNest> LowerTree(const LoopTree& tree, const std::set<std::string>& prepacked) {
  LoopNest nest;
  nest.name = tree.def().name;
  nest.sizes = tree.def().sizes;
  nest.dims_buffer = tree.def().dims_buffer;
  std::vector<LoopNest::Param> params = tree.def().params;
  for (const ScheduledStage& state : tree.stages()) {
    if (state.inlined || state.local) continue;
    const bool ahead = prepacked.contains(state.stage.name);
    std::vector<Buffer> outputs = state.stage.other_outputs;
    outputs.insert(outputs.begin(), state.stage.output);
    for (const Buffer& output : outputs) {
      const bool is_param = std::any_of(params.begin(), params.end(),
                                        [&](const LoopNest::Param& p) { return p.buffer == output; });
      if (output && !is_param)
        params.push_back({output, ahead ? BufferRole::kInput : BufferRole::kWorkspace});
    }
    if (!ahead && !state.attached_to)
      nest.roots.push_back(state.stage.is_imperative() ? state.stage.body : Lowering(tree, state).Run());
  }
  std::set<const BufferNode*> used;
  for (const Stmt& root : nest.roots) CollectBuffers(root, used);
  for (const LoopNest::Param& param : params) {
    if (param.role == BufferRole::kOutput || used.contains(param.buffer.get())) nest.params.push_back(param);
  }
  return WithIndexedBuffersInMemory(std::move(nest));
}

}  // namespace attune

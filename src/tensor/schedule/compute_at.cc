// compute_at: finds the region of a stage that its readers read inside a loop.
//
// Problem: inside one iteration of a loop, only part of a producer's output is read; computing just that
// part there keeps it in cache or in registers. Idea: each index of each read is affine in the loop
// variables. The variables of loops inside run through their full range and give the region's extent; the
// rest gives its start.
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"
#include "tensor/spelling.h"

namespace attune {
namespace {

struct Region {
  std::vector<Expr> min;
  std::vector<Extent> extent;
};

void Widen(Span& span, const Span& other) {
  span.guarded |= other.guarded;
  Affine shift = other.base;
  shift.Add(span.base, -1);
  if (span.full || other.full || !shift.is_constant()) {
    span.full = true;
    return;
  }
  span.low = std::min(span.low, other.low + shift.constant);
  span.high = std::max(span.high, other.high + shift.constant);
}

// Reads mention what lies beyond the axis, such as padding, but never read it. This does not hold for guarded
// iterations beyond an end: they may be computed all the same, and write elements that are not read.
void ClipToAxis(Span& span, int64_t extent) {
  span.low = std::max(span.low, -span.base.constant);
  span.high = std::max(std::min(span.high, extent - 1 - span.base.constant), span.low);
}

// Whether `guards` contain this condition, or the same one on equal indices.
bool Holds(const std::vector<Expr>& guards, const Expr& condition, const Bounds& bounds) {
  return std::ranges::any_of(guards, [&](const Expr& guard) {
    if (guard->kind != ExprKind::kOp || guard->op != condition->op) return false;
    return AreEqual(guard->args[0], condition->args[0], bounds) &&
           AreEqual(guard->args[1], condition->args[1], bounds);
  });
}

// The stages that are computed in an iteration of a loop, and the variables of the loops inside it.
struct Inside {
  std::set<const ScheduledStage*> stages;
  std::set<const VarNode*> variables;
};

Inside InsideOf(const LoopTree& tree, const LoopRef& at) {
  Inside inside = {{at.state}, {}};
  std::set<Var> loops;
  for (size_t i = at.index; i < at.state->loops.size(); ++i) {
    loops.insert(at.state->loops[i].var);
    if (i > at.index) inside.variables.insert(at.state->loops[i].var.get());
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (const ScheduledStage& state : tree.stages()) {
      if (inside.stages.contains(&state) || !loops.contains(state.attached_to)) continue;
      inside.stages.insert(&state);
      for (const StageLoop& loop : state.loops) {
        loops.insert(loop.var);
        inside.variables.insert(loop.var.get());
      }
      grown = true;
    }
  }
  return inside;
}

// For each axis of the producer's output, the span that an iteration of the loop reads.
absl::StatusOr<std::vector<Span>> SpansRead(const LoopTree& tree, const ScheduledStage& producer,
                                            const LoopRef& at) {
  const Inside inside = InsideOf(tree, at);
  const Bounds bounds = tree.LoopBounds();
  const Buffer& buffer = producer.stage.output;
  std::vector<Span> spans;
  bool read_outside = false;
  for (const ScheduledStage& state : tree.stages()) {
    if (state.inlined || &state == &producer) continue;
    VisitFormulas(state.stage, [&](const Expr& e) {
      if (e->kind != ExprKind::kLoad || e->buffer != buffer) return;
      if (!inside.stages.contains(&state)) {
        read_outside = true;
        return;
      }
      for (size_t d = 0; d < e->args.size(); ++d) {
        const Expr index = ReplaceVars(e->args[d], state.axis_values);
        Span span = SpanOf(index, bounds, inside.variables);
        const std::set<const VarNode*> variables = Variables(index);
        span.guarded =
            std::ranges::any_of(state.guards, [&](const Expr& g) { return MentionsAny(g, variables); });
        if (spans.size() == d) {
          spans.push_back(span);
        } else {
          Widen(spans[d], span);
        }
      }
    });
  }
  const std::string& stage = producer.stage.name;
  if (read_outside)
    return InvalidInput("compute_at: stage '", stage, "' is also read outside of '", at.loop().name, "'");
  if (spans.size() != buffer->shape.size())
    return InvalidInput("compute_at: stage '", stage, "' is not read in '", at.loop().name, "'");
  return spans;
}

// The region of the producer's output that an iteration of the loop reads.
absl::StatusOr<Region> RegionRead(const LoopTree& tree, const ScheduledStage& producer, const LoopRef& at,
                                  bool within) {
  const Buffer& buffer = producer.stage.output;
  ASSIGN_OR_RETURN(std::vector<Span> spans, SpansRead(tree, producer, at));
  Region region;
  for (size_t d = 0; d < spans.size(); ++d) {
    Span& span = spans[d];
    if (!span.full && (within || !span.guarded) && span.base.is_constant() && !buffer->extent(d).is_open())
      ClipToAxis(span, buffer->shape[d]);
    Affine min = span.base;
    min.constant += span.low;
    region.min.push_back(span.full ? Expr(int64_t{0}) : ToExpr(min));
    region.extent.push_back(span.full ? buffer->extent(d) : Extent(span.high - span.low + 1));
  }
  return region;
}

}  // namespace

absl::Status ComputeStageAt(LoopTree& tree, ScheduledStage& computed, LoopRef at, int64_t space,
                            bool within) {
  const std::string_view op = within ? "compute_within" : "compute_at";
  const std::string& name = computed.stage.name;
  if (at.state == &computed)
    return InvalidInput("compute_at: '", at.loop().name, "' is a loop of the stage itself");
  if (computed.stage.is_imperative()) return InvalidInput("compute_at: stage '", name, "' is imperative");
  if (computed.attached_to)
    return InvalidInput("compute_at: stage '", name, "' is computed at a loop already");
  if (tree.IsParameter(computed.stage.output))
    return InvalidInput("compute_at: stage '", name, "' is an output");
  RETURN_IF_ERROR(tree.CheckNothingComputedAt(computed, op));
  RETURN_IF_ERROR(tree.CheckReadByFormulas(computed, op));
  if (space <= static_cast<int64_t>(MemorySpace::kGlobal) ||
      space > static_cast<int64_t>(MemorySpace::kShared))
    return InvalidInput("compute_at: no memory space ", space, " for a stage that is computed at a loop");
  ASSIGN_OR_RETURN(Region region, RegionRead(tree, computed, at, within));

  const Buffer local = MakeOpenBuffer(computed.stage.output->name, computed.stage.output->dtype,
                                      region.extent, static_cast<MemorySpace>(space));
  if (!IsBufferSizeValid(*local))
    return InvalidInput("compute_at: stage '", name, "' would need too large a buffer");
  computed.local = local;
  computed.region_min = std::move(region.min);
  computed.attached_to = at.loop().var;
  LoopTree::ResetLoops(computed);
  // A guarded reader may ask for more than there is, unless the same guard already holds around this stage.
  const Bounds bounds = tree.LoopBounds();
  std::vector<Expr> around;
  for (const Expr& guard : at.state->guards) {
    bool is_inside = false;
    for (size_t i = at.index + 1; i < at.state->loops.size(); ++i)
      is_inside |= Mentions(guard, at.state->loops[i].var);
    if (!is_inside) around.push_back(guard);
  }
  for (const Axis& axis : computed.stage.axes) {
    const Expr& value = computed.axis_values[axis.var.get()];
    const Expr ends = value < axis.extent.expr(), begins = value >= Expr(int64_t{0});
    for (const Expr& inside : {ends, begins}) {
      if (bounds.Prove(inside) != true && !Holds(around, inside, bounds)) computed.guards.push_back(inside);
    }
  }
  return absl::OkStatus();
}

}  // namespace attune

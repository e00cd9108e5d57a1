// compute_after: finds the elements of a stage that depend on what one iteration of a loop has computed.
//
// Problem: right after the iteration that computes them, a stage's operands are in L1; after the whole nest
// they are farther away. Idea: along each axis, an iteration writes either one index or all of them. If a
// stage reads the axes of the first kind by axes of its own, each of its elements depends on one iteration
// alone. So each iteration computes its elements at its end, in whatever thread it runs.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

template <typename... Parts>
absl::Status Error(const Parts&... why) {
  return InvalidInput("compute_after: ", why...);
}

// For each axis of the buffer that an iteration of a loop writes: the one index that it writes, or nothing
// if it writes the whole axis.
using Written = std::vector<std::optional<Expr>>;

absl::StatusOr<Written> WrittenIn(const LoopTree& tree, const LoopRef& at) {
  const Stage& producer = at.state->stage;
  std::set<const VarNode*> inner;  // the variables of the loops inside
  for (size_t i = 0; i < at.state->loops.size(); ++i) {
    const StageLoop& loop = at.state->loops[i];
    if (i > at.index) {
      inner.insert(loop.var.get());
    } else if (loop.reduce) {
      return Error("loop '", loop.name, "' around the elements of '", producer.name, "' reduces");
    }
  }
  const Bounds bounds = tree.LoopBounds();
  Written written;
  for (const Axis& axis : producer.axes) {
    const Span span = SpanOf(at.state->axis_values.at(axis.var.get()), bounds, inner);
    const int64_t low = span.base.constant + span.low, high = span.base.constant + span.high;
    const bool is_all = !span.full && span.base.is_constant() && low <= 0 && !axis.extent.is_open() &&
                        high >= axis.extent - 1;
    if (!is_all && (span.full || span.low != span.high))
      return Error("an iteration of '", at.state->loops[at.index].name, "' computes a part of axis '",
                   axis.var->name, "'");
    Affine index = span.base;
    index.constant += span.low;
    written.push_back(is_all ? std::nullopt : std::optional<Expr>(ToExpr(index)));
  }
  return written;
}

// The axes of `reader` along which an iteration that writes `written` computes one index, with that index.
using AxisValues = std::map<const VarNode*, Expr>;
absl::StatusOr<AxisValues> MadeOf(const LoopTree& tree, const Written& written, const Stage& producer,
                                  const Stage& reader) {
  const Bounds bounds = tree.LoopBounds();
  AxisValues values;
  absl::Status status;
  bool reads = false;
  VisitFormulas(reader, [&](const Expr& load) {
    if (load->kind != ExprKind::kLoad || load->buffer != producer.output) return;
    reads = true;
    for (size_t d = 0; d < written.size(); ++d) {
      if (!written[d].has_value()) continue;
      const Expr& index = load->args[d];
      const bool is_own_axis = std::ranges::any_of(reader.axes, [&](const Axis& axis) {
        return index->kind == ExprKind::kVar && index->var == axis.var &&
               SameExpr(axis.extent.expr(), producer.axes[d].extent.expr());
      });
      if (!is_own_axis) {
        status.Update(Error("stage '", reader.name, "' does not read axis ", d, " of '", producer.name,
                            "' by an axis of its own"));
      } else if (!AreEqual(values.try_emplace(index->var.get(), *written[d]).first->second, *written[d],
                           bounds)) {
        status.Update(Error("stage '", reader.name, "' reads '", producer.name, "' along a diagonal"));
      }
    }
  });
  if (!reads) return Error("stage '", reader.name, "' does not read '", producer.name, "'");
  RETURN_IF_ERROR(status);
  return values;
}

}  // namespace

absl::Status ComputeStageAfter(LoopTree& tree, ScheduledStage& computed, LoopRef at) {
  const Stage &stage = computed.stage, &producer = at.state->stage;
  const auto made =
      std::ranges::find_if(tree.stages(), [&](const ScheduledStage& one) { return &one == at.state; });
  const auto next = std::next(made), end = tree.stages().end();
  if (std::none_of(next, end, [&](const ScheduledStage& later) { return &later == &computed; }))
    return Error("stage '", stage.name, "' is not computed after '", producer.name, "'");
  if (stage.is_imperative()) return Error("stage '", stage.name, "' is imperative");
  for (const ScheduledStage* one : {&computed, at.state}) {
    if (one->attached_to) return Error("stage '", one->stage.name, "' is computed at a loop already");
  }
  if (!producer.is_reduction() && producer.where)
    return Error("stage '", producer.name, "' computes a part of its output only");
  RETURN_IF_ERROR(tree.CheckNothingComputedAt(computed, "compute_after"));
  RETURN_IF_ERROR(tree.CheckReadByFormulas(*at.state, "compute_after"));
  absl::Status later;
  VisitFormulas(stage, [&](const Expr& e) {
    const auto computes = [&](const ScheduledStage& other) { return other.stage.output == e->buffer; };
    const auto found = e->kind == ExprKind::kLoad ? std::find_if(next, end, computes) : end;
    if (found != end)
      later.Update(Error("stage '", stage.name, "' reads what '", found->stage.name, "' computes later"));
  });
  RETURN_IF_ERROR(later);
  ASSIGN_OR_RETURN(const Written written, WrittenIn(tree, at));
  ASSIGN_OR_RETURN(const AxisValues values, MadeOf(tree, written, producer, stage));

  std::vector<StageLoop> loops = computed.loops;
  for (const auto& [axis, value] : values) {
    const Expr& own = computed.axis_values.at(axis);
    const auto is_of_axis = [&](const StageLoop& loop) {
      return own->kind == ExprKind::kVar && own->var == loop.var;
    };
    if (std::erase_if(loops, is_of_axis) == 0)
      return Error("loops of stage '", stage.name, "' are split or fused already");
  }
  for (const StageLoop& loop : computed.loops) {
    if (loop.kind == LoopKind::kParallel) return Error("loop '", loop.name, "' is parallel");
  }
  computed.loops = std::move(loops);
  for (const auto& [axis, value] : values) computed.axis_values.at(axis) = value;
  computed.attached_to = at.loop().var;
  return absl::OkStatus();
}

}  // namespace attune

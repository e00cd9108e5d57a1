// pack and overcompute: operands in the order that a kernel reads them, padded so that it needs no guards.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "tensor/schedule.h"
#include "tensor/schedule_expr.h"
#include "tensor/spelling.h"

namespace attune {
namespace {

constexpr int64_t kMaxBlock = 1 << 20;

// How the axes of a buffer become those of its packed copy.
struct Packing {
  std::vector<std::pair<int64_t, int64_t>> splits;  // axis, block
  std::vector<int64_t> order;

  // The indices in the copy of an element of the buffer.
  std::vector<Expr> Map(const std::vector<Expr>& indices) const {
    std::vector<Expr> split;
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      const int64_t block = BlockOf(axis);
      if (block == 0) {
        split.push_back(indices[axis]);
      } else {
        split.push_back(FloorDiv(indices[axis], block));
        split.push_back(FloorMod(indices[axis], block));
      }
    }
    std::vector<Expr> permuted;
    for (int64_t place : order) permuted.push_back(split[static_cast<size_t>(place)]);
    return permuted;
  }

  int64_t BlockOf(size_t axis) const {
    for (const auto& [a, block] : splits) {
      if (a == static_cast<int64_t>(axis)) return block;
    }
    return 0;
  }
};

absl::StatusOr<Packing> ParsePacking(const std::vector<int64_t>& numbers, size_t rank) {
  Packing packing;
  const size_t splits = numbers.empty() ? 0 : static_cast<size_t>(numbers[0]);
  if (numbers.empty() || splits > rank || numbers.size() != 1 + 2 * splits + rank + splits) {
    return InvalidInput("pack: wrong number of arguments for a buffer of rank ", rank);
  }
  for (size_t i = 0; i < splits; ++i) {
    const int64_t axis = numbers[1 + 2 * i], block = numbers[2 + 2 * i];
    if (axis < 0 || axis >= static_cast<int64_t>(rank) || block < 1 || block > kMaxBlock)
      return InvalidInput("pack: no axis ", axis, " or bad block ", block);
    packing.splits.emplace_back(axis, block);
  }
  packing.order.assign(numbers.begin() + static_cast<ptrdiff_t>(1 + 2 * splits), numbers.end());
  std::vector<int64_t> sorted = packing.order, expected(sorted.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), 0);
  if (sorted != expected) return InvalidInput("pack: the order is no permutation");
  return packing;
}

bool Intersect(const std::set<const VarNode*>& a, const std::set<const VarNode*>& b) {
  return std::any_of(a.begin(), a.end(), [&](const VarNode* v) { return b.contains(v); });
}

}  // namespace

absl::Status Schedule::PackImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const reader, FindStage(p.names[1]));
  const Buffer source = FindRead(reader->stage, p.names[0]);
  if (!source) return InvalidInput("pack: stage '", p.names[1], "' does not read '", p.names[0], "'");
  if (reader->follows()) return InvalidInput("pack: stage '", p.names[1], "' is computed after another one");
  if (AttachedStageOf(source) != nullptr)
    return InvalidInput("pack: '", p.names[0], "' is computed at a loop");
  RETURN_IF_ERROR(CheckNewName(p.names[0] + ".packed", p.op));
  ASSIGN_OR_RETURN(const Packing packing, ParsePacking(p.numbers, source->shape.size()));

  // The copy's axes, before and after the permutation, and where in the source each element comes from.
  std::vector<Axis> split;
  std::vector<Expr> from;
  Expr inside;
  for (size_t axis = 0; axis < source->shape.size(); ++axis) {
    const int64_t size = source->shape[axis], block = packing.BlockOf(axis);
    const Axis outer{MakeVar(absl::StrCat("i", axis)), block == 0 ? size : CeilDiv(size, block)};
    split.push_back(outer);
    if (block == 0) {
      from.push_back(Expr(outer.var));
      continue;
    }
    const Axis lane{MakeVar(absl::StrCat("i", axis, "v")), block};
    split.push_back(lane);
    from.push_back(Expr(outer.var) * Expr(block) + Expr(lane.var));
    if (size % block != 0) {
      const Expr here = from.back() < Expr(size);
      inside = inside ? And(inside, here) : here;
      from.back() = Min(from.back(), Expr(size - 1));
    }
  }
  auto copy = std::make_unique<StageState>();
  copy->stage.name = p.names[0] + ".packed";
  std::vector<int64_t> shape;
  for (int64_t place : packing.order) {
    copy->stage.axes.push_back(split[static_cast<size_t>(place)]);
    shape.push_back(copy->stage.axes.back().extent);
  }
  copy->stage.output = MakeBuffer(copy->stage.name, source->dtype, shape);
  if (!IsBufferSizeValid(*copy->stage.output))
    return InvalidInput("pack: the copy of '", p.names[0], "' would be too large");
  const Expr element = Load(source, from);
  copy->stage.value = inside ? Select(inside, element, ConstOf(source->dtype, 0)) : element;
  ResetLoops(*copy);

  ExprRewriter rewriter;
  rewriter.load = [&](const Buffer& buffer, const std::vector<Expr>& indices) {
    return buffer == source ? Load(copy->stage.output, packing.Map(indices)) : Expr();
  };
  reader->stage.value = Rewrite(reader->stage.value, rewriter);
  InsertBefore(*reader, std::move(copy));
  return absl::OkStatus();
}

absl::Status Schedule::OvercomputeImpl(const Primitive& p) {
  ASSIGN_OR_RETURN(StageState* const state, FindStage(p.names[0]));
  if (!state->local) return InvalidInput("overcompute: stage '", p.names[0], "' is not computed at a loop");
  const Bounds bounds = LoopBounds();
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
    const Expr load = Resolve(*state, e);  // of a region, where that is all there is
    for (size_t i = 0; i < e->args.size(); ++i) {
      const Interval range = bounds.Range(load->args[i]);
      if (range.min >= 0 && range.max < load->buffer->shape[i]) continue;
      beyond.push_back({Variables(e->args[i]), Variables(load->args[i]),
                        InvalidInput("overcompute: stage '", p.names[0], "' would read beyond axis ", i,
                                     " of '", e->buffer->name, "'")});
    }
  });
  // Conditions on axes alone guard the output's end; those with reduce axes choose terms and stay.
  Vars reduce_axes, reduce_loops;
  for (const Axis& axis : state->stage.reduce_axes) reduce_axes.insert(axis.var.get());
  for (const Loop& loop : state->loops) {
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
      return InvalidInput("overcompute: stage '", p.names[0], "' would write beyond axis ", i,
                          " of its region");
  }
  state->stage.where = kept;
  state->guards = std::move(guards);
  return absl::OkStatus();
}

}  // namespace attune

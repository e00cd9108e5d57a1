#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "tensor/schedule/transforms.h"
#include "tensor/schedule_expr.h"

namespace attune {
namespace {

// Traces may come from anywhere: these keep the arithmetic on extents from overflowing.
constexpr int64_t kMaxFactor = 1 << 30;
constexpr int64_t kMaxExtent = int64_t{1} << 40;

std::string_view OpThatMarks(LoopKind kind) {
  switch (kind) {
    case LoopKind::kUnrolled:
      return "unroll";
    case LoopKind::kVectorized:
      return "vectorize";
    case LoopKind::kParallel:
      return "parallel";
    case LoopKind::kDot:
      return "dot";
    case LoopKind::kMatrix:
      return "matrix";
    case LoopKind::kBound:
      return "bind";
    case LoopKind::kSerial:
      break;
  }
  return "mark";
}

absl::Status CheckParallel(const LoopRef& ref) {
  const StageLoop& loop = ref.loop();
  if (loop.reduce) return InvalidInput("parallel: loop '", loop.name, "' reduces");
  if (ref.index != 0 || ref.state->attached_to) {
    return InvalidInput("parallel: loop '", loop.name, "' is not the outermost loop of a root stage");
  }
  if (loop.peel_front + loop.peel_back > 0) return InvalidInput("parallel: loop '", loop.name, "' is peeled");
  return absl::OkStatus();
}

absl::Status CheckDot(const LoopRef& ref) {
  const std::vector<StageLoop>& loops = ref.state->loops;
  const StageLoop& loop = ref.loop();
  if (!loop.reduce) return InvalidInput("dot: loop '", loop.name, "' does not reduce");
  if (ref.index + 1 != loops.size() || ref.index == 0 || loops[ref.index - 1].kind != LoopKind::kVectorized)
    return InvalidInput("dot: loop '", loop.name, "' is not the innermost, directly in a vectorized one");
  return absl::OkStatus();
}

absl::Status CheckMatrix(const LoopRef& ref) {
  const std::vector<StageLoop>& loops = ref.state->loops;
  const StageLoop& loop = ref.loop();
  if (loop.reduce) return InvalidInput("matrix: loop '", loop.name, "' reduces");
  bool has_columns = false;
  for (size_t i = ref.index + 1; i < loops.size(); ++i) {
    if (loops[i].kind == LoopKind::kSerial)
      return InvalidInput("matrix: loop '", loops[i].name, "' inside of '", loop.name, "' is not marked");
    has_columns |= loops[i].kind == LoopKind::kVectorized;
  }
  if (!has_columns) return InvalidInput("matrix: no loop inside of '", loop.name, "' is vectorized");
  return absl::OkStatus();
}

}  // namespace

absl::Status SplitLoop(LoopTree& tree, LoopRef split, int64_t factor, bool overlapping) {
  const std::string_view op = overlapping ? "split_overlapping" : "split";
  const StageLoop loop = split.loop();
  if (factor < 1) return InvalidInput(op, ": factor ", factor, " of loop '", loop.name, "' is not positive");
  if (factor > (overlapping ? loop.extent.bound() : kMaxFactor))
    return InvalidInput(op, ": factor ", factor, " of loop '", loop.name, "' is too large");
  if (overlapping && tree.LoopBounds().Range(loop.extent.expr()).min < factor)
    return InvalidInput(op, ": loop '", loop.name, "' may have fewer than ", factor, " iterations");
  RETURN_IF_ERROR(tree.CheckPlain(loop, op));
  StageLoop outer = loop, inner = loop;
  inner.full_blocks = Expr();
  outer.name = loop.name + ".o";
  inner.name = loop.name + ".i";
  outer.var = MakeVar(outer.name);
  inner.var = MakeVar(inner.name);
  const Quotient blocks = DivideUp(tree.LoopBounds(), loop.extent, factor);
  const bool even = blocks.is_exact;
  outer.extent = blocks.extent;
  outer.full_blocks = Expr();
  if (loop.extent.is_open() && !even && !overlapping)
    outer.full_blocks = FloorDiv(loop.extent.expr(), factor);
  inner.extent = factor;
  const Expr begin = Expr(outer.var) * factor;
  const Expr first = overlapping && !even ? Min(begin, loop.extent.expr() - Expr(factor)) : begin;
  const Expr value = first + Expr(inner.var);
  tree.ReplaceVariable(loop.var, value);
  if (!even) split.state->guards.push_back(overlapping ? value >= begin : value < loop.extent.expr());
  auto& loops = split.state->loops;
  loops[split.index] = outer;
  loops.insert(loops.begin() + static_cast<ptrdiff_t>(split.index) + 1, inner);
  return absl::OkStatus();
}

absl::Status FuseLoops(LoopTree& tree, LoopRef a, LoopRef b, const std::string& name) {
  const StageLoop outer = a.loop(), inner = b.loop();
  if (a.state != b.state || a.index + 1 != b.index)
    return InvalidInput("fuse: '", inner.name, "' is not directly inside '", outer.name, "'");
  std::vector<StageLoop>& loops = a.state->loops;
  if (outer.reduce != inner.reduce)
    return InvalidInput("fuse: only one of '", outer.name, "' and '", inner.name, "' reduces");
  RETURN_IF_ERROR(tree.CheckPlain(outer, "fuse"));
  RETURN_IF_ERROR(tree.CheckPlain(inner, "fuse"));
  const std::optional<int64_t> extent = CheckedMul(outer.extent, inner.extent);
  const bool is_open = outer.extent.is_open() || inner.extent.is_open();
  if (!extent || (*extent > kMaxExtent && !is_open))
    return InvalidInput("fuse: '", outer.name, "' and '", inner.name, "' have too many iterations");
  StageLoop fused = outer;
  fused.full_blocks = Expr();
  fused.name = name;
  if (fused.name != outer.name && fused.name != inner.name && tree.FindLoop(fused.name).ok())
    return InvalidInput("fuse: there is a loop '", fused.name, "' already");
  fused.var = MakeVar(fused.name);
  fused.extent = is_open ? Extent(outer.extent.expr() * inner.extent.expr(), *extent) : Extent(*extent);
  // If one loop has a single iteration, the fused loop stands for the other one alone: a quotient would be
  // hard to simplify once the loop is split and its last iterations are guarded.
  const Expr width = inner.extent.is_open() ? inner.extent.expr() : Expr(std::max<int64_t>(inner.extent, 1));
  const bool is_outer = !inner.extent.is_open() && inner.extent <= 1;
  const bool is_inner = !outer.extent.is_open() && outer.extent == 1;
  const Expr whole(fused.var), zero(int64_t{0});
  tree.ReplaceVariable(outer.var, is_inner ? zero : is_outer ? whole : FloorDiv(whole, width));
  tree.ReplaceVariable(inner.var, is_inner ? whole : is_outer ? zero : FloorMod(whole, width));
  loops[a.index] = fused;
  loops.erase(loops.begin() + static_cast<ptrdiff_t>(b.index));
  return absl::OkStatus();
}

absl::Status ReorderLoops(const LoopTree& tree, const std::vector<LoopRef>& loops) {
  std::vector<size_t> places;
  std::vector<StageLoop> picked;
  ScheduledStage* state = nullptr;
  for (const LoopRef& ref : loops) {
    if (state != nullptr && ref.state != state)
      return InvalidInput("reorder: '", ref.loop().name, "' belongs to another stage");
    state = ref.state;
    places.push_back(ref.index);
    picked.push_back(ref.loop());
    RETURN_IF_ERROR(tree.CheckNothingComputedAt(ref.loop(), "reorder"));
  }
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end())
    return InvalidInput("reorder: a loop is named twice");
  for (size_t i = 0; i < places.size(); ++i) {
    if (picked[i].kind == LoopKind::kParallel && places[i] != 0)
      return InvalidInput("reorder: parallel loop '", picked[i].name, "' would not be outermost");
  }
  // A stage that is computed at a loop depends on which loops are around that loop.
  for (size_t i = places.front(); i < places.back(); ++i) {
    RETURN_IF_ERROR(tree.CheckNothingComputedAt(state->loops[i], "reorder"));
  }
  for (size_t i = 0; i < places.size(); ++i) state->loops[places[i]] = picked[i];
  return absl::OkStatus();
}

absl::Status MarkLoop(LoopRef marked, LoopKind kind, const std::string& binding) {
  StageLoop& loop = marked.loop();
  if (loop.kind != LoopKind::kSerial)
    return InvalidInput(OpThatMarks(kind), ": loop '", loop.name, "' is marked already");
  const bool may_be_open =
      kind == LoopKind::kSerial || kind == LoopKind::kParallel || kind == LoopKind::kBound;
  if (loop.extent.is_open() && !may_be_open)
    return InvalidInput(OpThatMarks(kind), ": the extent of loop '", loop.name, "' is open");
  if (kind == LoopKind::kParallel) RETURN_IF_ERROR(CheckParallel(marked));
  if (kind == LoopKind::kDot) RETURN_IF_ERROR(CheckDot(marked));
  if (kind == LoopKind::kMatrix) RETURN_IF_ERROR(CheckMatrix(marked));
  loop.kind = kind;
  loop.binding = binding;
  return absl::OkStatus();
}

absl::Status PeelLoop(LoopRef peeled, int64_t front, int64_t back) {
  StageLoop& loop = peeled.loop();
  if (front < 0 || back < 0) return InvalidInput("peel: negative count");
  if (loop.kind != LoopKind::kSerial) return InvalidInput("peel: loop '", loop.name, "' is not serial");
  if (loop.extent.is_open()) {
    // The last block of an open loop may be full or not; nothing else is known of its iterations.
    if (front == 0 && back == 1 && loop.full_blocks) loop.peel_back = 1;
    return absl::OkStatus();
  }
  loop.peel_front = std::min<int64_t>(front, loop.extent);
  loop.peel_back = std::min<int64_t>(back, loop.extent - loop.peel_front);
  return absl::OkStatus();
}

}  // namespace attune

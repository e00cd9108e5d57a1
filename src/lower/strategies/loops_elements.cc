// Formulas and data movement: stages that compute each element by itself.
//
// Neighbouring axes are fused if memory continues from one to the other. Then the innermost loop becomes
// lanes if memory is contiguous along it, in whole vectors or in blocks. Transpositions, which read along
// another loop, go tile by tile.
#include <algorithm>
#include <bit>
#include <optional>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/access.h"
#include "lower/strategies/groups.h"
#include "lower/strategies/loops_parts.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// Vectors of fewer lanes are no better than scalars.
constexpr int64_t kMinLanes = 4;
// At most this many lanes are loaded one by one.
constexpr int64_t kMaxStridedLanes = 16;
// Fewer iterations are not worth sharing.
constexpr int64_t kMinShares = 4;

// The most lanes for which the stage's memory is contiguous along an axis: fewer than fill a vector if it
// is in smaller blocks. 0 if there are no such lanes.
int64_t ContiguousLanes(const Stage& stage, const Axis& axis, int64_t lanes) {
  if (Contiguity(stage, axis) >= 0) return lanes;
  for (int64_t width = lanes; width >= kMinLanes; width /= 2) {
    if (Contiguity(stage, axis, width) >= 0) return width;
  }
  return 0;
}

// The innermost axis of more than one element.
const Axis& Innermost(const Stage& stage) {
  for (size_t d = stage.axes.size(); d-- > 0;) {
    if (stage.axes[d].extent > 1) return stage.axes[d];
  }
  return stage.axes.back();
}

// Fuses the stage's axes, from the last on, while memory continues along them. Returns the resulting loop.
absl::StatusOr<LoopHandle> FuseInnerAxes(Schedule& s, const Stage& stage) {
  LoopHandle inner = LoopOver(s, stage, stage.axes.back());
  const Axis* neighbour = &stage.axes.back();
  for (size_t d = stage.axes.size() - 1; d-- > 0;) {
    const Axis& axis = stage.axes[d];
    const bool trivial = axis.extent == 1 || neighbour->extent == 1;
    if (!trivial && !CanFuse(stage, axis, *neighbour)) break;
    ASSIGN_OR_RETURN(inner, s.Fuse(LoopOver(s, stage, axis), inner, absl::StrCat(stage.name, ".flat", d)));
    if (axis.extent != 1) neighbour = &axis;
  }
  return inner;
}

// Tiles of a stage whose stores are contiguous along one loop, `inner`, and whose loads are along another
// one, `outer`. A tile has `height` iterations of `outer`, a cache line or a block of the loads' layout,
// and `width` iterations of `inner`.
struct Transposition {
  LoopHandle outer, inner;
  int64_t height, width;
};

// How many times the loops of a stage run, but for `outer` and `inner`.
absl::StatusOr<int64_t> IterationsAround(const Schedule& s, const Stage& stage, const Transposition& tiles) {
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s.Loops(s.StageNamed(stage.name)));
  int64_t iterations = 1;
  for (const LoopHandle& loop : loops) {
    if (loop != tiles.outer && loop != tiles.inner) iterations *= s.Extent(loop).value_or(1);
  }
  return iterations;
}

// The tiles of a stage with the loop `inner` over its innermost axes; nothing where it is no transposition.
std::optional<Transposition> FindTransposition(const Schedule& s, const Stage& stage, const LoopHandle& inner,
                                               const Target& target) {
  if (stage.where) return std::nullopt;  // its lanes would have to be gathered
  const Bounds bounds = AxisBounds(stage);
  int loads = 0;
  bool steps = true;
  VisitLoads(stage, [&](const Expr& load) {
    ++loads;
    steps &= StrideAlong(load, Innermost(stage).var, bounds).has_value();
  });
  const int64_t line = target.cache_line_bytes / DTypeSize(stage.output->dtype),
                width = std::min(line, kMaxStridedLanes);
  if (loads == 0 || !steps || s.Extent(inner).value_or(0) < width) return std::nullopt;
  for (const Axis& axis : stage.axes) {
    const LoopHandle outer = LoopOver(s, stage, axis);
    if (axis.extent == 1 || outer == inner || !s.Extent(outer).ok()) continue;
    for (int64_t height = std::min<int64_t>(line, axis.extent); height > 1; height /= 2) {
      if (Contiguity(stage, axis, height) == 2 * loads) return Transposition{outer, inner, height, width};
    }
  }
  return std::nullopt;
}

// Goes through a transposition tile by tile, so that each line is used up while it is in L1. Returns how
// many loops threads can share; 0, and changes nothing, if those have too few iterations.
absl::StatusOr<size_t> TileTransposition(Schedule& s, const Stage& stage, const Transposition& tiles) {
  ASSIGN_OR_RETURN(std::vector<LoopHandle> order, s.Loops(s.StageNamed(stage.name)));
  ASSIGN_OR_RETURN(const int64_t width, s.Extent(tiles.inner));
  ASSIGN_OR_RETURN(const int64_t height, s.Extent(tiles.outer));
  ASSIGN_OR_RETURN(const int64_t around, IterationsAround(s, stage, tiles));
  const bool peels = width % tiles.width != 0;
  if (peels && IsWorthSharing(WorkOf(stage)) && around * CeilDiv(height, tiles.height) < kMinShares) return 0;
  std::erase(order, tiles.outer);
  std::erase(order, tiles.inner);
  ASSIGN_OR_RETURN(const SplitLoops outer, s.Split(tiles.outer, tiles.height));
  ASSIGN_OR_RETURN(const SplitLoops inner, s.Split(tiles.inner, tiles.width));
  const size_t shared = order.size() + (peels ? 1 : 2);
  order.insert(order.end(), {outer.outer, inner.outer, outer.inner, inner.inner});
  RETURN_IF_ERROR(s.Reorder(order));
  RETURN_IF_ERROR(s.Vectorize(inner.inner));
  if (peels) RETURN_IF_ERROR(s.Peel(inner.outer, 0, 1));
  return shared;
}

}  // namespace

absl::StatusOr<LaneLoops> SplitIntoLanes(Schedule& s, const LoopHandle& loop, int64_t width, int64_t lanes,
                                         bool peel) {
  ASSIGN_OR_RETURN(const int64_t extent, s.Extent(loop));
  if (extent * 2 <= std::min(width, lanes)) return LaneLoops{};
  if (extent <= width && std::has_single_bit(static_cast<uint64_t>(extent))) {
    RETURN_IF_ERROR(s.Vectorize(loop));
    return LaneLoops{{}, loop};
  }
  while (width > lanes && extent < width) width /= 2;
  ASSIGN_OR_RETURN(const SplitLoops split, s.Split(loop, width));
  RETURN_IF_ERROR(s.Vectorize(split.inner));
  if (peel && extent % width != 0) RETURN_IF_ERROR(s.Peel(split.outer, 0, 1));
  return LaneLoops{split.outer, split.inner};
}

absl::Status ScheduleElements(Schedule& s, const Stage& root, const Target& target) {
  const int64_t lanes = LanesOf(root, target.vector_bits);
  const bool shares = IsWorthSharing(WorkOf(root));
  const StageHandle stage = s.StageNamed(root.name);
  ASSIGN_OR_RETURN(const LoopHandle inner, FuseInnerAxes(s, root));
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s.Loops(stage));
  size_t shared = loops.size() - 1;
  if (const int64_t width = ContiguousLanes(root, Innermost(root), lanes); width > 0) {
    const bool peel = shared > 0 || !shares;  // what is shared cannot be peeled
    RETURN_IF_ERROR(SplitIntoLanes(s, inner, width, lanes, peel).status());
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> split, s.Loops(stage));
    if (shared == 0) shared = split.size() - 1;
  } else {
    if (const auto tiles = FindTransposition(s, root, inner, target)) {
      ASSIGN_OR_RETURN(const size_t around, TileTransposition(s, root, *tiles));
      shared = std::max(shared, around);
    }
    shared = std::max<size_t>(shared, 1);
  }
  return shares && shared > 0 ? ParallelizeOuter(s, stage, shared) : absl::OkStatus();
}

absl::Status InlineElementwise(Schedule& s, const Workload& workload) {
  for (const std::string& name : workload.elementwise_stages) {
    const std::vector<Stage> stages = s.Stages();
    const auto stage =
        std::find_if(stages.begin(), stages.end(), [&](const Stage& x) { return x.name == name; });
    int reads = 0;
    bool imperative = false;
    for (const Stage& reader : stages) {
      imperative |= reader.is_imperative() && Reads(reader.body, stage->output);
      if (reader.is_imperative()) continue;
      VisitLoads(reader, [&](const Expr& load) {
        if (load->buffer == stage->output) reads += reader.is_reduction() && reader.axes.size() > 1 ? 2 : 1;
      });
    }
    if (imperative || (reads > 1 && IsExpensive(*stage))) continue;
    RETURN_IF_ERROR(s.Inline(s.StageNamed(name)));
  }
  return absl::OkStatus();
}

}  // namespace attune

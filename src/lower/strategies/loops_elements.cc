// Formulas and data movement: stages that compute each element by itself.
//
// Neighbouring axes become one where memory goes on from one to the other. Then lanes are made of the
// innermost loop, where memory is contiguous along it, in whole vectors or in blocks.
#include <algorithm>
#include <bit>

#include "base/status.h"
#include "lower/strategies/access.h"
#include "lower/strategies/loops_parts.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// Vectors of fewer lanes are no better than scalars.
constexpr int64_t kMinLanes = 4;

// The most lanes in which the stage's memory is contiguous along an axis: fewer than fill a vector where it
// lies in smaller blocks. 0 where there are no such lanes.
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

// Fuses as many of the stage's axes, from the last, as memory goes on along. Returns the loop that results.
absl::StatusOr<std::string> FuseInnerAxes(Schedule& s, const Stage& stage) {
  std::string inner = LoopOf(stage, stage.axes.back());
  const Axis* neighbour = &stage.axes.back();
  for (size_t d = stage.axes.size() - 1; d-- > 0;) {
    const Axis& axis = stage.axes[d];
    const bool trivial = axis.extent == 1 || neighbour->extent == 1;
    if (!trivial && !CanFuse(stage, axis, *neighbour)) break;
    const std::string fused = absl::StrCat(stage.name, ".flat", d);
    RETURN_IF_ERROR(s.Fuse(LoopOf(stage, axis), inner, fused));
    inner = fused;
    if (axis.extent != 1) neighbour = &axis;
  }
  return inner;
}

}  // namespace

absl::StatusOr<std::string> SplitIntoLanes(Schedule& s, const std::string& loop, int64_t width, int64_t lanes,
                                           bool peel) {
  ASSIGN_OR_RETURN(const int64_t extent, s.Extent(loop));
  if (extent * 2 <= std::min(width, lanes)) return std::string();
  if (extent <= width && std::has_single_bit(static_cast<uint64_t>(extent))) {
    RETURN_IF_ERROR(s.Vectorize(loop));
    return loop;
  }
  while (width > lanes && extent < width) width /= 2;
  RETURN_IF_ERROR(s.Split(loop, width));
  RETURN_IF_ERROR(s.Vectorize(loop + ".i"));
  if (peel && extent % width != 0) RETURN_IF_ERROR(s.Peel(loop + ".o", 0, 1));
  return loop + ".i";
}

absl::Status ScheduleElements(Schedule& s, const Stage& root, const Target& target) {
  const int64_t lanes = LanesOf(root, target.vector_bits);
  const bool shared = IsWorthSharing(WorkOf(root));
  ASSIGN_OR_RETURN(const std::string inner, FuseInnerAxes(s, root));
  ASSIGN_OR_RETURN(const std::vector<std::string> before, s.Loops(root.name));
  size_t outer_loops = before.size() - 1;
  const int64_t width = ContiguousLanes(root, Innermost(root), lanes);
  if (width > 0) {
    const bool peel = outer_loops > 0 || !shared;  // what is shared cannot be peeled
    RETURN_IF_ERROR(SplitIntoLanes(s, inner, width, lanes, peel).status());
    ASSIGN_OR_RETURN(const std::vector<std::string> loops, s.Loops(root.name));
    if (outer_loops == 0) outer_loops = loops.size() - 1;
  } else {
    outer_loops = std::max<size_t>(outer_loops, 1);
  }
  return shared && outer_loops > 0 ? ParallelizeOuter(s, root.name, outer_loops) : absl::OkStatus();
}

}  // namespace attune

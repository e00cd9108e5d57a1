#include "tensor/schedule/primitives.h"

#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/schedule/transforms.h"

namespace attune {
namespace {

template <bool kOverlapping>
absl::Status Split(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef loop, tree.FindLoop(p.names[0]));
  return SplitLoop(tree, loop, p.numbers[0], kOverlapping);
}

absl::Status Fuse(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef outer, tree.FindLoop(p.names[0]));
  ASSIGN_OR_RETURN(const LoopRef inner, tree.FindLoop(p.names[1]));
  return FuseLoops(tree, outer, inner, p.names[2]);
}

absl::Status Reorder(LoopTree& tree, const Primitive& p) {
  std::vector<LoopRef> loops;
  for (const std::string& name : p.names) {
    ASSIGN_OR_RETURN(loops.emplace_back(), tree.FindLoop(name));
  }
  return ReorderLoops(tree, loops);
}

template <LoopKind kKind>
absl::Status Mark(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef loop, tree.FindLoop(p.names[0]));
  return MarkLoop(loop, kKind, kKind == LoopKind::kBound ? p.names[1] : "");
}

absl::Status Peel(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef loop, tree.FindLoop(p.names[0]));
  return PeelLoop(loop, p.numbers[0], p.numbers[1]);
}

// A primitive whose only argument is a stage.
template <absl::Status (*kTransform)(LoopTree&, ScheduledStage&)>
absl::Status OnStage(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(ScheduledStage* const stage, tree.FindStage(p.names[0]));
  return kTransform(tree, *stage);
}

template <bool kWithin>
absl::Status ComputeAt(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(ScheduledStage* const stage, tree.FindStage(p.names[0]));
  ASSIGN_OR_RETURN(const LoopRef at, tree.FindLoop(p.names[1]));
  return ComputeStageAt(tree, *stage, at, p.numbers[0], kWithin);
}

absl::Status ComputeAfter(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(ScheduledStage* const stage, tree.FindStage(p.names[0]));
  ASSIGN_OR_RETURN(const LoopRef at, tree.FindLoop(p.names[1]));
  return ComputeStageAfter(tree, *stage, at);
}

absl::Status CacheReadOf(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(ScheduledStage* const reader, tree.FindStage(p.names[1]));
  return CacheRead(tree, p.names[0], *reader);
}

absl::Status Rfactor(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(ScheduledStage* const stage, tree.FindStage(p.names[0]));
  ASSIGN_OR_RETURN(const LoopRef loop, tree.FindLoop(p.names[1]));
  return FactorReduction(tree, *stage, loop, p.numbers[0]);
}

template <bool kNextTile>
absl::Status Prefetch(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(const LoopRef loop, tree.FindLoop(p.names[1]));
  return AddPrefetch(p.names[0], loop, kNextTile);
}

absl::Status Pack(LoopTree& tree, const Primitive& p) {
  ASSIGN_OR_RETURN(ScheduledStage* const reader, tree.FindStage(p.names[1]));
  return PackBuffer(tree, p.names[0], *reader, p.numbers);
}

struct PrimitiveRow {
  std::string_view op;
  int names;    // -1: any number
  int numbers;  // likewise
  absl::Status (*apply)(LoopTree& tree, const Primitive& p);
};

constexpr PrimitiveRow kPrimitives[] = {
    {"split", 1, 1, Split<false>},
    {"split_overlapping", 1, 1, Split<true>},
    {"fuse", 3, 0, Fuse},
    {"reorder", -1, 0, Reorder},
    {"unroll", 1, 0, Mark<LoopKind::kUnrolled>},
    {"vectorize", 1, 0, Mark<LoopKind::kVectorized>},
    {"parallel", 1, 0, Mark<LoopKind::kParallel>},
    {"dot", 1, 0, Mark<LoopKind::kDot>},
    {"matrix", 1, 0, Mark<LoopKind::kMatrix>},
    {"bind", 2, 0, Mark<LoopKind::kBound>},
    {"peel", 1, 2, Peel},
    {"inline", 1, 0, OnStage<InlineStage>},
    {"compute_at", 2, 1, ComputeAt<false>},
    {"compute_within", 2, 1, ComputeAt<true>},
    {"compute_after", 2, 0, ComputeAfter},
    {"cache_write", 1, 0, OnStage<CacheWrite>},
    {"cache_read", 2, 0, CacheReadOf},
    {"rfactor", 2, 1, Rfactor},
    {"prefetch", 2, 0, Prefetch<false>},
    {"prefetch_next_tile", 2, 0, Prefetch<true>},
    {"pack", 2, -1, Pack},
    {"overcompute", 1, 0, OnStage<OvercomputeStage>},
};

}  // namespace

absl::Status ApplyPrimitive(LoopTree& tree, const Primitive& primitive) {
  for (const PrimitiveRow& row : kPrimitives) {
    if (row.op != primitive.op) continue;
    if ((row.names >= 0 && static_cast<int>(primitive.names.size()) != row.names) ||
        (row.numbers >= 0 && static_cast<int>(primitive.numbers.size()) != row.numbers)) {
      return InvalidInput("schedule primitive '", primitive.op, "': wrong number of arguments");
    }
    return row.apply(tree, primitive);
  }
  return InvalidInput("no schedule primitive '", primitive.op, "'");
}

}  // namespace attune

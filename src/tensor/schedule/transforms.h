// The transformations of loop trees behind the primitives, by file; tensor/schedule.h documents the
// primitives. Each returns an error, and leaves the tree as it was, where it does not apply.
#ifndef ATTUNE_TENSOR_SCHEDULE_TRANSFORMS_H_
#define ATTUNE_TENSOR_SCHEDULE_TRANSFORMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensor/schedule/loop_tree.h"

namespace attune {

// transform_loops.cc. Split, or SplitOverlapping.
absl::Status SplitLoop(LoopTree& tree, LoopRef split, int64_t factor, bool overlapping);
// `name`: the name of the resulting loop.
absl::Status FuseLoops(LoopTree& tree, LoopRef outer, LoopRef inner, const std::string& name);
absl::Status ReorderLoops(const LoopTree& tree, const std::vector<LoopRef>& loops);
// Unroll, Vectorize, Parallel, Dot, Matrix and, with a binding, Bind.
absl::Status MarkLoop(LoopRef marked, LoopKind kind, const std::string& binding);
absl::Status PeelLoop(LoopRef peeled, int64_t front, int64_t back);

// transform_stages.cc: adds, replaces and removes stages.
absl::Status InlineStage(LoopTree& tree, ScheduledStage& inlined);
absl::Status CacheWrite(LoopTree& tree, ScheduledStage& cached);
absl::Status CacheRead(LoopTree& tree, const std::string& buffer, ScheduledStage& reader);
// Rfactor; the new axis is number `axis`, or the last one.
inline constexpr int64_t kLastAxis = -1;
absl::Status FactorReduction(LoopTree& tree, ScheduledStage& reduction, LoopRef loop, int64_t axis);

// compute_at.cc: computes a stage inside a loop of a stage that reads it. ComputeAt, or ComputeWithin if
// `within`. `space` is the number of a MemorySpace, which may be invalid if it comes from a trace.
absl::Status ComputeStageAt(LoopTree& tree, ScheduledStage& computed, LoopRef at, int64_t space, bool within);

// compute_after.cc: computes a stage at the end of the iterations that compute what it reads. ComputeAfter.
absl::Status ComputeStageAfter(LoopTree& tree, ScheduledStage& computed, LoopRef at);

// overcompute.cc: the tail strategy round up, which drops guards on elements that are not read. Overcompute.
absl::Status OvercomputeStage(LoopTree& tree, ScheduledStage& state);

// pack.cc: copies operands in the order in which a kernel reads them. Pack. `layout` has the numbers of the
// primitive: the number of splits, the axis and the block of each, then the order.
absl::Status PackBuffer(LoopTree& tree, const std::string& name, ScheduledStage& reader,
                        const std::vector<int64_t>& layout);

// prefetch.cc: Prefetch, or PrefetchNextTile.
absl::Status AddPrefetch(const std::string& buffer, LoopRef at, bool next_tile);
// The prefetches of one iteration of `loop`, which is a loop of `state`.
std::vector<Stmt> PrefetchesAt(const LoopTree& tree, const ScheduledStage& state, const StageLoop& loop);

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_TRANSFORMS_H_

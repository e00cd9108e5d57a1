// Schedules: recorded transformations that turn a compute definition into a loop nest.
//
// Problem: how fast a kernel runs depends on the order, tiling and placement of its loops far more than on
// its arithmetic, and the best choice differs by shape and machine. So the choice is data: a list of
// primitives, applied one after the other to a compute definition. A list can be saved, searched over and
// replayed; the same definition and list give the same loop nest. After Halide (Ragan-Kelley et al., PLDI
// 2013) and TVM (Chen et al., OSDI 2018).
//
// Every stage starts as a nest of serial loops over its axes, outermost first, then over its reduce axes.
// Traces name a loop "stage.axis". C++ code uses handles, and needs names only for the first ones: the name
// of a stage in the definition, and of an axis in the stage. A stage is a root unless it is inlined or
// computed at a loop, of a stage that reads it (ComputeAt) or of a stage that it reads (ComputeAfter). The
// output of a root stage, or of a stage that is computed after another, gets a workspace unless it is a
// parameter.
#ifndef ATTUNE_TENSOR_SCHEDULE_H_
#define ATTUNE_TENSOR_SCHEDULE_H_

#include <cstdint>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensor/compute.h"
#include "tensor/schedule/handles.h"
#include "tensor/schedule/loop_tree.h"
#include "tensor/schedule/lower_tree.h"
#include "tensor/schedule/trace.h"
#include "tensor/schedule/transforms.h"

namespace attune {

// A schedule records what it does: it spells each primitive in names, as a trace has it, checks it, applies
// it to the loop trees (tensor/schedule/) and adds it to the trace. So a replay repeats exactly what was
// done. Not thread safe.
class Schedule {
 public:
  explicit Schedule(ComputeDef def) : tree_(std::move(def)) {}
  // The schedule of `def` after these primitives. One whose op is in `may_fail` is left out if it fails.
  static absl::StatusOr<Schedule> Replay(ComputeDef def, const std::vector<Primitive>& trace,
                                         std::span<const std::string_view> may_fail = {});

  // The stage of this name, from the definition or made by a primitive. If there is none, primitives that
  // take the handle return an error with the name.
  StageHandle StageNamed(std::string_view name) const { return StageHandle(std::string(name)); }
  // The loop over an axis of a stage, unless it has been split or fused; `axis` is the axis' name in the
  // stage's definition ("kh"). If there is none, primitives that take the handle return an error with the
  // name.
  LoopHandle Loop(const StageHandle& stage, std::string_view axis) const;
  // The loops over several axes, in this order.
  std::vector<LoopHandle> LoopsOver(const StageHandle& stage,
                                    std::initializer_list<std::string_view> axes) const;
  // All loops of a stage as they stand now, outermost first.
  absl::StatusOr<std::vector<LoopHandle>> Loops(const StageHandle& stage) const;
  // The number of iterations of a loop as it stands now.
  absl::StatusOr<int64_t> Extent(const LoopHandle& loop) const;
  // The buffer that a stage writes.
  absl::StatusOr<Buffer> Output(const StageHandle& stage) const;
  // The stages that are not inlined, in order, with the stages that were inlined into them.
  std::vector<Stage> Stages() const;

  // The primitives. A primitive that does not apply returns an error that names the stage or loop, and
  // changes nothing. ComputeAt, ComputeWithin, CacheWrite and Rfactor reset the loops of the stage to those
  // over its axes. Handles of these stay valid; handles of loops that they were split or fused into do not.

  // Splits `loop` into outer and inner, which has extent `factor`; the trace calls them loop.o and loop.i.
  // If `factor` does not divide the extent, iterations beyond it are guarded.
  absl::StatusOr<SplitLoops> Split(const LoopHandle& loop, int64_t factor);
  // The same with the tail strategy shift inwards: if `factor` does not divide the extent, the last inner
  // loop covers the last `factor` iterations, and those that the inner loop before has covered are guarded.
  // So the region of a stage computed at the outer loop never lies beyond the end. `factor` is at most the
  // extent.
  absl::StatusOr<SplitLoops> SplitOverlapping(const LoopHandle& loop, int64_t factor);
  // Two adjacent loops of a stage, `outer` directly around `inner`, become one, called `name` in the trace.
  absl::StatusOr<LoopHandle> Fuse(const LoopHandle& outer, const LoopHandle& inner, const std::string& name);
  // These loops of one stage exchange their positions, so that they follow one another in this order.
  absl::Status Reorder(const std::vector<LoopHandle>& loops);
  absl::Status Unroll(const LoopHandle& loop);
  absl::Status Vectorize(const LoopHandle& loop);
  absl::Status Parallel(const LoopHandle& loop);
  // `loop`, an innermost reduce loop directly in a vectorized one, becomes a dot product instruction.
  absl::Status Dot(const LoopHandle& loop);
  // `loop` goes over the rows of a tile that a matrix instruction computes. All loops inside it must be
  // marked already, in the order that LoopKind::kMatrix demands.
  absl::Status Matrix(const LoopHandle& loop);
  absl::Status Bind(const LoopHandle& loop, const std::string& hardware_index);
  // The first `front` and the last `back` iterations get their own copies of the body, in which guards and
  // padding conditions that fail only at the borders are decided at compile time. An open loop has at most
  // its last block peeled, for when that is not full, and guards in it stay.
  absl::Status Peel(const LoopHandle& loop, int64_t front, int64_t back);
  // The stage's value is computed wherever it is read. Its `where` is dropped: the elements that it leaves
  // out are not read. Not for reductions and imperative stages.
  absl::Status Inline(const StageHandle& stage);
  // The stage is computed inside `loop`, for just the region that is read there, by the stage of `loop` or
  // by stages that are already computed there. Its loops shrink to that region, so split them afterwards.
  // Memory stands in for registers if an index is not constant after loops are unrolled and vectorized.
  absl::Status ComputeAt(const StageHandle& stage, const LoopHandle& loop, MemorySpace space);
  // The same, but the region stays within the stage's output, even if guarded iterations of its readers lie
  // beyond it. So these readers must not be rounded up (Overcompute).
  absl::Status ComputeWithin(const StageHandle& stage, const LoopHandle& loop, MemorySpace space);
  // `stage` is a root stage that reads the result of the earlier root stage of `loop`, and nothing that is
  // computed later. At the end of each iteration of `loop`, it computes the elements of its output that
  // depend on what the iteration computed. Along each axis of its result, an iteration must write either
  // one index or all of them. If it writes one, `stage` must read that by an axis of its own, as sums along
  // rows do, so that no two iterations compute the same elements.
  absl::Status ComputeAfter(const StageHandle& stage, const LoopHandle& loop);
  // Returns a new stage, called `stage`.acc in the trace, with the formula of `stage`, which then only
  // copies the result. Compute the new stage at a loop of `stage`.
  absl::StatusOr<StageHandle> CacheWrite(const StageHandle& stage);
  // Returns a new stage, called `buffer`.`stage` in the trace, that copies `buffer`; `stage` reads the copy
  // instead. Its axes are i0, i1, ….
  absl::StatusOr<StageHandle> CacheRead(const Buffer& buffer, const StageHandle& stage);
  // Splits a reduction in two. A new stage, called `stage`.rf in the trace, reduces along all reduce loops
  // except `loop`, which becomes its axis number `axis`, or its last one (kLast). `stage` then reduces the
  // result along that axis.
  static constexpr int64_t kLast = kLastAxis;
  absl::StatusOr<FactoredReduction> Rfactor(const StageHandle& stage, const LoopHandle& loop,
                                            int64_t axis = kLast);
  // `stage` reads `buffer` from a copy in another order. A new stage makes the copy; it is returned, and
  // called `buffer`.packed in the trace. Each (axis, block) splits an axis of the buffer into blocks and
  // lanes, with zeros if the last block is not full, and `order` permutes the resulting axes. The copy's
  // axes are named after the buffer's, i0, i1, …, and the lanes of a split axis i0v, i1v, …. A copy of a
  // constant can be prepacked: see Prepackings().
  absl::StatusOr<StageHandle> Pack(const Buffer& buffer, const StageHandle& stage,
                                   const std::vector<std::pair<int64_t, int64_t>>& splits,
                                   const std::vector<int64_t>& order);
  // The tail strategy round up: the stage also computes elements beyond the end of its output's axes, whose
  // values are not read, instead of guarding against them. Guards that keep it from reading out of bounds
  // stay; an error if all of them do.
  absl::Status Overcompute(const StageHandle& stage);
  // Prefetches `buffer` into L2, block by block. A block is one index of the first axis, and of each
  // following axis along which the stage's own loops do not move. While one block is read, each iteration
  // of `loop` prefetches a share of the next one, spread evenly over all iterations until that block is
  // read. Nothing if loops inside `loop` move from block to block.
  absl::Status Prefetch(const Buffer& buffer, const LoopHandle& loop);
  // Prefetches into L2 the elements of `buffer` that the stage of `loop` reads for its next tile. The stage
  // must be computed at a loop of another stage. A tile is one iteration of that loop, or of the innermost
  // loop around it that moves to other elements of `buffer`. Each iteration of `loop` prefetches what the
  // same iteration reads for the next tile.
  absl::Status PrefetchNextTile(const Buffer& buffer, const LoopHandle& loop);

  // Applies one line of a trace, which has stages, loops and buffers by name.
  absl::Status Apply(const Primitive& primitive);
  const std::vector<Primitive>& trace() const { return trace_; }

  using Prepacking = PrepackableStage;
  std::vector<Prepacking> Prepackings() const { return PrepackableStages(tree_); }

  // The loop nest. Root stages become root statements. `prepared` names stages of Prepackings(), whose
  // outputs become inputs; inputs that are not read are dropped.
  absl::StatusOr<LoopNest> Lower(const std::set<std::string>& prepared = {}) const {
    return LowerTree(tree_, prepared);
  }
  // The loop nest of one of Prepackings(): from its input to its output.
  absl::StatusOr<LoopNest> LowerPrepacking(const std::string& stage) const {
    return attune::LowerPrepacking(tree_, stage);
  }

 private:
  absl::StatusOr<ConstLoopRef> Find(const LoopHandle& loop) const;
  // Applies a primitive whose names are `names`, then those of `loops`.
  absl::Status ApplyTo(std::string_view op, std::vector<std::string> names,
                       const std::vector<LoopHandle>& loops, std::vector<int64_t> numbers = {});
  absl::StatusOr<SplitLoops> SplitBy(std::string_view op, const LoopHandle& loop, int64_t factor);
  // The stage that a primitive has just added, right before `reader`.
  const ScheduledStage& StageBefore(const StageHandle& reader) const;

  LoopTree tree_;
  std::vector<Primitive> trace_;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_H_

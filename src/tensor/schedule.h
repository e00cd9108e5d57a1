// Schedules: recorded transformations that turn a compute definition into a loop nest.
//
// Problem: how fast a kernel runs depends on the order, tiling and placement of its loops far more than on
// its arithmetic, and the best choice differs by shape and machine. So the choice is data: a list of
// primitives, applied one after the other to a compute definition. A list can be saved, searched over and
// replayed; the same definition and list give the same loop nest. After Halide (Ragan-Kelley et al., PLDI
// 2013) and TVM (Chen et al., OSDI 2018).
//
// Every stage starts out as its own nest of serial loops, axes outermost, then reduce axes, named
// "stage.axis" in the trace. C++ code names them by handles, and says a name where a schedule begins: that of
// a stage in the definition, of an axis in a stage. A stage is a root unless it is inlined, or computed at a
// loop of a stage that uses it or of one that it uses. The output of a root stage, and of one that is
// computed after others, gets a workspace where it is no parameter.
#ifndef ATTUNE_TENSOR_SCHEDULE_H_
#define ATTUNE_TENSOR_SCHEDULE_H_

#include <cstdint>
#include <initializer_list>
#include <set>
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
#include "tensor/schedule/transform_stages.h"

namespace attune {

// A schedule records what it does: each primitive is written down in names, as a trace has it, checked,
// applied to the loop trees (tensor/schedule/) and added to the trace. So a replay does what was done. Not
// thread safe.
class Schedule {
 public:
  explicit Schedule(ComputeDef def) : tree_(std::move(def)) {}
  static absl::StatusOr<Schedule> Replay(ComputeDef def, const std::vector<Primitive>& trace);

  // The stage of this name, of the definition or made by a primitive. Primitives return an error that names
  // it where there is none.
  StageHandle StageNamed(std::string_view name) const { return StageHandle(std::string(name)); }
  // The loop over an axis of a stage, by the axis' name in the stage's definition ("kh"), as long as it has
  // not been split or fused. Primitives return an error that names it where there is none.
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
  // The stages that are not inlined, in order, as they stand now: with what was inlined into them.
  std::vector<Stage> Stages() const;

  // The primitives. Each returns an error that names the stage or loop where it does not apply, and leaves no
  // trace then. A primitive that moves a stage or gives it another formula gives it the loops over its axes
  // again, whose handles stay good; those of loops that these were split or fused into do not.

  // loop → outer, inner with inner extent `factor`, called loop.o and loop.i in the trace. Where `factor`
  // does not divide the extent, the iterations beyond it are guarded.
  absl::StatusOr<SplitLoops> Split(const LoopHandle& loop, int64_t factor);
  // The same, but where `factor` does not divide the extent, the last inner loop goes over the last `factor`
  // iterations, of which those are guarded that the one before has been over. What is computed at the outer
  // loop for all of the inner one then never lies beyond the end. `factor` is at most the extent.
  absl::StatusOr<SplitLoops> SplitOverlapping(const LoopHandle& loop, int64_t factor);
  // Two adjacent loops of a stage, `outer` directly around `inner`, become one, called `name` in the trace.
  absl::StatusOr<LoopHandle> Fuse(const LoopHandle& outer, const LoopHandle& inner, const std::string& name);
  // These loops of one stage exchange their positions, so that they follow one another in this order.
  absl::Status Reorder(const std::vector<LoopHandle>& loops);
  absl::Status Unroll(const LoopHandle& loop);
  absl::Status Vectorize(const LoopHandle& loop);
  absl::Status Parallel(const LoopHandle& loop);
  // `loop`, innermost, of a reduce axis and inside of a vectorized one, becomes a dot product instruction.
  absl::Status Dot(const LoopHandle& loop);
  // `loop` goes over the rows of a tile that a matrix instruction computes: all loops inside of it are
  // marked, in the order in which LoopKind::kMatrix has them.
  absl::Status Matrix(const LoopHandle& loop);
  absl::Status Bind(const LoopHandle& loop, const std::string& hardware_index);
  // The first `front` and the last `back` iterations get copies of the body of their own, in which guards and
  // padding conditions that fail only at the borders are decided at compile time.
  absl::Status Peel(const LoopHandle& loop, int64_t front, int64_t back);
  // The stage's value is computed wherever it is read, also where its `where` would leave an element as it
  // is: such elements are not read. Not for reductions and imperative stages.
  absl::Status Inline(const StageHandle& stage);
  // The stage is computed inside `loop` of a stage that (itself, or through stages already computed there)
  // reads it, for just the region that is read there; split its loops, which shrink to that, afterwards.
  // Memory stands in for registers where an index is no constant once loops are unrolled and vectorized.
  absl::Status ComputeAt(const StageHandle& stage, const LoopHandle& loop, MemorySpace space);
  // The same, and the region ends where the stage does, also where guarded iterations of its readers would go
  // beyond: they are not to overcompute, then.
  absl::Status ComputeWithin(const StageHandle& stage, const LoopHandle& loop, MemorySpace space);
  // The stage, a root one that reads what an iteration of `loop` of an earlier root stage computes, and
  // nothing that is computed later, is computed at the end of that iteration: all elements of its output that
  // are made of it, where they belong. Its axes must tell iterations apart, as those along which a row is
  // summed do: it reads either the one index of an axis that an iteration writes, by an axis of its own, or
  // it writes all.
  absl::Status ComputeAfter(const StageHandle& stage, const LoopHandle& loop);
  // Returns a new stage, called `stage`.acc in the trace, that computes what `stage` did, which copies it:
  // compute the new one at a loop of `stage`.
  absl::StatusOr<StageHandle> CacheWrite(const StageHandle& stage);
  // Returns a new stage, called `buffer`.`stage` in the trace, that copies `buffer` and is read by `stage` in
  // its place. Its axes are i0, i1, ….
  absl::StatusOr<StageHandle> CacheRead(const Buffer& buffer, const StageHandle& stage);
  // The reduction along `loop` (a loop of a reduce axis) happens last: a new stage, called `stage`.rf in the
  // trace, with `loop` as its axis number `axis`, or as the last one, reduces along all others, and `stage`
  // reduces that.
  static constexpr int64_t kLast = kLastAxis;
  absl::StatusOr<FactoredReduction> Rfactor(const StageHandle& stage, const LoopHandle& loop,
                                            int64_t axis = kLast);
  // `stage` reads `buffer` from a copy in another order, made by a new stage, which is returned and called
  // `buffer`.packed in the trace: each (axis, block) splits an axis of the buffer into blocks and lanes, with
  // zeros where the last block is not full, and `order` permutes the axes that result. The copy's axes are
  // named after the buffer's, i0, i1, …, and the lanes of a split one i0v, i1v, …. A copy of a constant can
  // be made ahead of time: see Prepackings().
  absl::StatusOr<StageHandle> Pack(const Buffer& buffer, const StageHandle& stage,
                                   const std::vector<std::pair<int64_t, int64_t>>& splits,
                                   const std::vector<int64_t>& order);
  // The stage computes elements beyond the end of its output's axes as well, whose values nobody reads,
  // instead of guarding against them. Guards stay that keep it from reading out of bounds; an error where all
  // do.
  absl::Status Overcompute(const StageHandle& stage);
  // The stage of `loop` reads `buffer` block by block: one index of the first axis, and of each next axis
  // along which the stage, by itself, does not move, make a block. While it reads one, the next is brought
  // into L2, a share of it in each iteration of `loop`, evenly over all iterations until that block's turn
  // comes. Nothing where loops inside of `loop` go from block to block.
  absl::Status Prefetch(const Buffer& buffer, const LoopHandle& loop);
  // The stage of `loop` is computed at a loop of another stage, for one tile in each iteration of that loop,
  // or of the innermost around it that goes on to other elements of `buffer`. Meanwhile the elements of
  // `buffer` that it will read for the next tile are brought into L2: in each iteration of `loop`, those that
  // the same iteration will read then.
  absl::Status PrefetchNextTile(const Buffer& buffer, const LoopHandle& loop);

  // The primitive that a line of a trace tells, with stages, loops and buffers by name.
  absl::Status Apply(const Primitive& primitive);
  const std::vector<Primitive>& trace() const { return trace_; }

  using Prepacking = PrepackableStage;
  std::vector<Prepacking> Prepackings() const { return PrepackableStages(tree_); }

  // The loop nest. Root stages become root statements. The outputs of the stages in `prepared`, all of them
  // Prepackings(), become inputs; inputs that are not read are dropped.
  absl::StatusOr<LoopNest> Lower(const std::set<std::string>& prepared = {}) const {
    return LowerTree(tree_, prepared);
  }
  // The loop nest of one of Prepackings(): from its input to its output.
  absl::StatusOr<LoopNest> LowerPrepacking(const std::string& stage) const {
    return attune::LowerPrepacking(tree_, stage);
  }

 private:
  absl::StatusOr<ConstLoopRef> Find(const LoopHandle& loop) const;
  // Writes down a primitive whose names are `names`, then those of `loops`, and applies it.
  absl::Status ApplyTo(std::string_view op, std::vector<std::string> names,
                       const std::vector<LoopHandle>& loops, std::vector<int64_t> numbers = {});
  absl::StatusOr<SplitLoops> SplitBy(std::string_view op, const LoopHandle& loop, int64_t factor);
  // The stage that a primitive has added, right before the one that reads it.
  const ScheduledStage& StageBefore(const StageHandle& reader) const;

  LoopTree tree_;
  std::vector<Primitive> trace_;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_H_

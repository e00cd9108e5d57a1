// Schedules: recorded transformations that turn a compute definition into a loop nest.
//
// Problem: how fast a kernel runs depends on the order, tiling and placement of its loops far more than on
// its arithmetic, and the best choice differs by shape and machine. So the choice is data: a list of
// primitives, applied one after the other to a compute definition. A list can be saved, searched over and
// replayed; the same definition and list give the same loop nest. After Halide (Ragan-Kelley et al., PLDI
// 2013) and TVM (Chen et al., OSDI 2018).
//
// Every stage starts out as its own nest of serial loops, axes outermost, then reduce axes, named
// "stage.axis". A stage is a root unless it is inlined, or computed at a loop of a stage that uses it or of
// one that it uses. The output of a root stage, and of one that is computed after others, gets a workspace
// where it is no parameter.
#ifndef ATTUNE_TENSOR_SCHEDULE_H_
#define ATTUNE_TENSOR_SCHEDULE_H_

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensor/compute.h"
#include "tensor/schedule/loop_tree.h"
#include "tensor/schedule/lower_tree.h"
#include "tensor/schedule/trace.h"
#include "tensor/schedule/transform_stages.h"

namespace attune {

// A schedule records what it does: each primitive is checked, transforms the loop trees (tensor/schedule/)
// and is added to the trace. Not thread safe.
class Schedule {
 public:
  explicit Schedule(ComputeDef def) : tree_(std::move(def)) {}
  static absl::StatusOr<Schedule> Replay(ComputeDef def, const std::vector<Primitive>& trace);

  // Each returns an error that names the stage or loop where it does not apply, and leaves no trace then.

  // loop → loop.o, loop.i with inner extent `factor`. Where `factor` does not divide the extent, the
  // iterations beyond it are guarded.
  absl::Status Split(const std::string& loop, int64_t factor);
  // The same, but where `factor` does not divide the extent, the last loop.i goes over the last `factor`
  // iterations, of which those are guarded that the one before has been over. What is computed at loop.o for
  // all of loop.i then never lies beyond the end. `factor` is at most the extent.
  absl::Status SplitOverlapping(const std::string& loop, int64_t factor);
  // Two adjacent loops of a stage, `outer` directly around `inner` → `fused`.
  absl::Status Fuse(const std::string& outer, const std::string& inner, const std::string& fused);
  // These loops of one stage take, in this order, the places that they hold now.
  absl::Status Reorder(const std::vector<std::string>& loops);
  // Splits two adjacent loops and orders them y.o x.o y.i x.i.
  absl::Status Tile(const std::string& y, const std::string& x, int64_t y_factor, int64_t x_factor);
  absl::Status Unroll(const std::string& loop);
  absl::Status Vectorize(const std::string& loop);
  absl::Status Parallel(const std::string& loop);
  // `loop`, innermost, of a reduce axis and inside of a vectorized one, becomes a dot product instruction.
  absl::Status Dot(const std::string& loop);
  // `loop` goes over the rows of a tile that a matrix instruction computes: all loops inside of it are
  // marked, in the order in which LoopKind::kMatrix has them.
  absl::Status Matrix(const std::string& loop);
  absl::Status Bind(const std::string& loop, const std::string& hardware_index);
  // The first `front` and the last `back` iterations get copies of the body of their own, in which guards and
  // padding conditions that fail only at the borders are decided at compile time.
  absl::Status Peel(const std::string& loop, int64_t front, int64_t back);
  // The stage's value is computed wherever it is read, also where its `where` would leave an element as it
  // is: such elements are not read. Not for reductions and imperative stages.
  absl::Status Inline(const std::string& stage);
  // The stage is computed inside `loop` of a stage that (itself, or through stages already computed there)
  // reads it, for just the region that is read there; split its loops, which shrink to that, afterwards.
  // Memory stands in for registers where an index is no constant once loops are unrolled and vectorized.
  absl::Status ComputeAt(const std::string& stage, const std::string& loop, MemorySpace space);
  // The same, and the region ends where the stage does, also where guarded iterations of its readers would go
  // beyond: they are not to overcompute, then.
  absl::Status ComputeWithin(const std::string& stage, const std::string& loop, MemorySpace space);
  // The stage, a root one that reads what an iteration of `loop` of an earlier root stage computes, and
  // nothing that is computed later, is computed at the end of that iteration: all elements of its output that
  // are made of it, where they belong. Its axes must tell iterations apart, as those along which a row is
  // summed do: it reads either the one index of an axis that an iteration writes, by an axis of its own, or
  // it writes all.
  absl::Status ComputeAfter(const std::string& stage, const std::string& loop);
  // stage → `stage`.acc, which computes it, and `stage`, which copies it; compute the former at a loop of the
  // latter.
  absl::Status CacheWrite(const std::string& stage);
  // A stage named `buffer`.`stage` that copies `buffer` and is read by `stage` in its place.
  absl::Status CacheRead(const std::string& buffer, const std::string& stage);
  // The reduction along `loop` (a loop of a reduce axis) happens last: a new stage, `stage`.rf, with `loop`
  // as its axis number `axis`, or as the last one, reduces along all others, and `stage` reduces that.
  static constexpr int64_t kLast = kLastAxis;
  absl::Status Rfactor(const std::string& stage, const std::string& loop, int64_t axis = kLast);
  // `stage` reads `buffer` from a copy in another order, a stage named `buffer`.packed: each (axis, block)
  // splits an axis of the buffer into blocks and lanes, with zeros where the last block is not full, and
  // `order` permutes the axes that result. A copy of a constant can be made ahead of time: see
  // Prepackings().
  absl::Status Pack(const std::string& buffer, const std::string& stage,
                    const std::vector<std::pair<int64_t, int64_t>>& splits,
                    const std::vector<int64_t>& order);
  // The stage computes elements beyond the end of its output's axes as well, whose values nobody reads,
  // instead of guarding against them. Guards stay that keep it from reading out of bounds; an error where all
  // do.
  absl::Status Overcompute(const std::string& stage);
  // The stage of `loop` reads `buffer` block by block, a block being what has one index of the first axis,
  // and one of each next axis along which the stage, by itself, does not move.
  // While it does, the next block is brought into the second-level cache, a share of it in each iteration of
  // `loop`, evenly over all iterations until that block's turn comes. Nothing where loops inside of `loop` go
  // from block to block.
  absl::Status Prefetch(const std::string& buffer, const std::string& loop);
  // The stage of `loop` is computed at a loop of another stage, for one tile in each iteration of that loop,
  // or of the innermost around it that goes on to other elements of `buffer`. While it is, what it will read
  // of `buffer` for the next tile is brought into the second-level cache: in each iteration of `loop`, what
  // the same iteration will read then.
  absl::Status PrefetchNextTile(const std::string& buffer, const std::string& loop);

  absl::Status Apply(const Primitive& primitive);
  const std::vector<Primitive>& trace() const { return trace_; }

  // Of a loop, as it stands now.
  absl::StatusOr<int64_t> Extent(const std::string& loop) const;
  // The stages that are not inlined, in order, as they stand now: with what was inlined into them.
  std::vector<Stage> Stages() const;
  // The loops of a stage, outermost first.
  absl::StatusOr<std::vector<std::string>> Loops(const std::string& stage) const;

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
  LoopTree tree_;
  std::vector<Primitive> trace_;
};

}  // namespace attune

#endif  // ATTUNE_TENSOR_SCHEDULE_H_

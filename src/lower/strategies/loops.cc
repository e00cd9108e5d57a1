// Loops: the strategy that applies to everything.
//
// Elementwise stages are inlined, and the rest forms groups: a stage that is stored, with the temporaries
// that only it reads, row by row (a softmax with its maxima and sums, a pool with its accumulator). Threads
// share the rows of a group, temporaries are computed inside the last row loop, and one loop becomes lanes:
//   across rows  the last row axis, if memory is contiguous along it (pools in NCHW[v]c, reductions over an
//                outer axis);
//   within rows  every stage's inner axis, if memory is contiguous along it; reductions along it are kept in
//                lanes, which are added up last (softmax, layer_norm, sums over the inner axis).
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "base/checked.h"
#include "base/status.h"
#include "lower/strategies/access.h"
#include "lower/strategies/groups.h"
#include "lower/strategies/loops_parts.h"
#include "lower/strategies/strategies.h"

namespace attune {
namespace {

// Reductions keep this many vectors of partial results, to hide the latency of an addition.
constexpr int64_t kPartialVectors = 4;
// Loops over at most this many terms are unrolled.
constexpr int64_t kMaxUnrolledTerms = 32;
// At most this many iterations of a loop are peeled.
constexpr int64_t kMaxPeeled = 8;
// Rows of at least this many vectors prefetch the next row. The hardware finds the next short row by itself,
// and computing its address would take longer than the row.
constexpr int64_t kLongRow = 16;
// A sum of more terms than this is split into partial sums: rounding errors grow with the number of
// additions in sequence (Higham: Accuracy and stability of numerical algorithms, 2002, section 4.2).
constexpr int64_t kMaxChain = 1024;

void MoveToEnd(std::vector<LoopHandle>& loops, const LoopHandle& loop) {
  loops.erase(std::ranges::find(loops, loop));
  loops.push_back(loop);
}

bool Contains(const std::vector<size_t>& values, size_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class GroupScheduler {
 public:
  GroupScheduler(Schedule& schedule, const StageGroup& group, const Workload& workload, const Target& target)
      : s_(schedule), group_(group), root_(group.root), workload_(workload), target_(target) {
    lanes_ = LanesOf(root_, target.vector_bits);
    work_ = WorkOf(root_);
    for (const Member& m : group.members) {
      lanes_ = std::min(lanes_, LanesOf(m.stage, target.vector_bits));
      work_ = std::max(work_, WorkOf(m.stage));
    }
  }

  absl::Status Run() {
    if (work_ == 0) return absl::OkStatus();  // an empty tensor
    if (root_.axes.empty()) return root_.is_reduction() ? ReduceInLanes(root_, {}) : absl::OkStatus();
    if (group_.members.empty() && !root_.is_reduction()) return ScheduleElements(s_, root_, target_);
    return LanesAcrossRows() ? ScheduleAcrossRows() : ScheduleWithinRows();
  }

 private:
  // Shares the first `count` loops of the root among threads, as one, where the work is worth it.
  absl::Status Share(size_t count) {
    if (!IsWorthSharing(work_) || count == 0) return absl::OkStatus();
    return ParallelizeOuter(s_, HandleOf(root_), count);
  }

  StageHandle HandleOf(const Stage& stage) const { return s_.StageNamed(stage.name); }
  LoopHandle LoopOf(const Stage& stage, const Axis& axis) const { return LoopOver(s_, stage, axis); }

  // A stage as it stands now.
  Stage StageOf(const StageHandle& handle) const {
    const std::vector<Stage> stages = s_.Stages();
    return *std::ranges::find(stages, handle.name(), &Stage::name);
  }

  // The last of these axes of the root with more than one element.
  size_t LastOf(const std::vector<size_t>& axes) const {
    for (size_t i = axes.size(); i-- > 0;) {
      if (root_.axes[axes[i]].extent > 1) return axes[i];
    }
    return axes.back();
  }
  const Axis& LastRow() const { return root_.axes[LastOf(group_.rows)]; }

  // The innermost axis of a stage that is not a row axis; for a reduction the last reduce axis, unless
  // another axis suits lanes better. Null if a row is a single element.
  const Axis* InnerAxis(const Stage& stage, const std::map<size_t, size_t>& along) const {
    const Axis* own = nullptr;
    for (size_t d = 0; d < stage.axes.size(); ++d) {
      bool is_row = false;
      for (size_t row : group_.rows) is_row |= along.at(row) == d;
      if (!is_row && stage.axes[d].extent > 1) own = &stage.axes[d];
    }
    if (!stage.is_reduction()) return own;
    const Axis& reduced = stage.reduce_axes.back();
    if (own == nullptr) return &reduced;
    return Contiguity(stage, *own) >= Contiguity(stage, reduced) ? own : &reduced;
  }

  std::map<size_t, size_t> Identity() const {
    std::map<size_t, size_t> along;
    for (size_t d = 0; d < root_.axes.size(); ++d) along[d] = d;
    return along;
  }

  // Whether lanes lie better across rows than within them.
  bool LanesAcrossRows() const {
    const size_t row = LastOf(group_.rows);
    int across = Contiguity(root_, LastRow()), within = 0;
    bool has_inner = false;
    const auto count_within = [&](const Stage& stage, const std::map<size_t, size_t>& along) {
      const Axis* inner = InnerAxis(stage, along);
      if (inner == nullptr) return;
      has_inner = true;
      within += inner->extent < lanes_ ? -4 : Contiguity(stage, *inner);
    };
    count_within(root_, Identity());
    for (const Member& m : group_.members) {
      across += Contiguity(m.stage, m.stage.axes[m.along.at(row)]);
      count_within(m.stage, m.along);
    }
    if (LastRow().extent * 2 <= lanes_) return false;
    return !has_inner || within < 0 ? across >= 0 : across > within;
  }

  // Puts row loops first, with that of LastRow() innermost, then the others, then those that reduce.
  absl::Status OrderRows() {
    const LoopHandle last = LoopOf(root_, LastRow());
    std::vector<LoopHandle> order, inner;
    for (size_t d = 0; d < root_.axes.size(); ++d) {
      (Contains(group_.rows, d) ? order : inner).push_back(LoopOf(root_, root_.axes[d]));
    }
    MoveToEnd(order, last);
    order.insert(order.end(), inner.begin(), inner.end());
    return s_.Reorder(order);
  }

  absl::Status ScheduleAcrossRows() {
    ASSIGN_OR_RETURN(const std::optional<FactoredReduction> parts, SumInParts(HandleOf(root_)));
    RETURN_IF_ERROR(OrderRows());
    LoopHandle lane = LoopOf(root_, LastRow());
    size_t outer = group_.rows.size() - 1;  // loops around the lanes
    const int64_t extent = LastRow().extent;
    const bool one_vector =
        outer > 0 && extent <= kPartialVectors * lanes_ && std::has_single_bit(static_cast<uint64_t>(extent));
    if (one_vector) {
      lanes_ = extent;
    } else {
      ASSIGN_OR_RETURN(const SplitLoops row, s_.Split(lane, lanes_));
      lane = row.inner;
      ++outer;
    }
    ASSIGN_OR_RETURN(std::vector<LoopHandle> loops, s_.Loops(HandleOf(root_)));
    MoveToEnd(loops, lane);
    RETURN_IF_ERROR(s_.Reorder(loops));
    RETURN_IF_ERROR(s_.Vectorize(lane));
    const Borders borders =
        one_vector ? LastLoopBorders(RowBeforeLast(), 1) : LastLoopBorders(LastOf(group_.rows), lanes_);
    const bool peels = outer > 1 && borders.front + borders.back > 0;
    if (peels) RETURN_IF_ERROR(s_.Peel(loops[outer - 1], borders.front, borders.back));
    RETURN_IF_ERROR(Share(peels ? outer - 1 : outer));
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> now, s_.Loops(HandleOf(root_)));
    const LoopHandle at = now[outer - 1 - (loops.size() - now.size())];
    for (const Member& m : group_.members) RETURN_IF_ERROR(AttachAcross(m, at));
    if (!root_.is_reduction()) return absl::OkStatus();
    return parts ? AttachParts(*parts, LastRow()) : UnrollTerms(root_);
  }

  // The row axis whose loop OrderRows puts right before that of LastRow().
  size_t RowBeforeLast() const {
    const std::vector<size_t>& rows = group_.rows;
    return rows.back() == LastOf(rows) ? rows[rows.size() - 2] : rows.back();
  }

  // The first and last iterations of the loop along a row axis, each over `tile` positions, in which a
  // window may leave the image, or lanes are left over.
  Borders LastLoopBorders(size_t row, int64_t tile) const {
    Borders borders;
    if (tile > 1 && LastRow().extent % tile != 0) borders.back = 1;
    const Node* anchor = workload_.anchor;
    if (anchor == nullptr || (anchor->op() != Op::kMaxPool && anchor->op() != Op::kAvgPool)) return borders;
    const size_t rank = anchor->output()->type().dims.size();
    if (row != rank - 1) return borders;
    const Borders windows = PeeledTiles(WindowAlong(*anchor, rank - 3), tile);
    return windows.front + windows.back <= kMaxPeeled ? windows : borders;
  }

  absl::Status AttachAcross(const Member& m, const LoopHandle& at) {
    const Axis& own = m.stage.axes[m.along.at(LastOf(group_.rows))];
    const StageHandle stage = HandleOf(m.stage);
    ASSIGN_OR_RETURN(const std::optional<FactoredReduction> parts, SumInParts(stage));
    RETURN_IF_ERROR(s_.ComputeAt(stage, at, SpaceFor(m, lanes_)));
    RETURN_IF_ERROR(VectorizeInnermost(stage, LoopOf(m.stage, own)).status());
    if (!m.stage.is_reduction()) return absl::OkStatus();
    return parts ? AttachParts(*parts, own) : UnrollTerms(m.stage);
  }

  // Makes a loop of a stage the innermost and, if it fills vectors, vectorizes it. Returns its extent.
  absl::StatusOr<int64_t> VectorizeInnermost(const StageHandle& stage, const LoopHandle& lane) {
    ASSIGN_OR_RETURN(std::vector<LoopHandle> loops, s_.Loops(stage));
    MoveToEnd(loops, lane);
    RETURN_IF_ERROR(s_.Reorder(loops));
    ASSIGN_OR_RETURN(const int64_t extent, s_.Extent(lane));
    if (extent % lanes_ == 0 && extent <= kPartialVectors * lanes_) RETURN_IF_ERROR(s_.Vectorize(lane));
    return extent;
  }

  // Splits a sum of very many terms into partial sums, for AttachParts; nothing if it is short.
  absl::StatusOr<std::optional<FactoredReduction>> SumInParts(const StageHandle& sum) {
    const Stage stage = StageOf(sum);
    if (!stage.is_reduction() || stage.combiner != MathOp::kAdd || !IsFloat(stage.output->dtype))
      return std::nullopt;
    int64_t terms = 1;
    std::vector<const Axis*> axes;
    for (const Axis& axis : stage.reduce_axes) {
      terms *= axis.extent;
      if (axis.extent > 1) axes.push_back(&axis);
    }
    if (terms <= kMaxChain) return std::nullopt;
    LoopHandle loop = LoopOf(stage, *axes.front());
    if (axes.size() == 1) {
      const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(terms)));
      ASSIGN_OR_RETURN(const SplitLoops split, s_.Split(loop, static_cast<int64_t>(std::bit_floor(root))));
      loop = split.outer;
    }
    return s_.Rfactor(sum, loop);
  }

  // Computes the partial sums of SumInParts where they are added up, with lanes along `axis`.
  absl::Status AttachParts(const FactoredReduction& parts, const Axis& axis) {
    RETURN_IF_ERROR(s_.ComputeAt(parts.stage, parts.last, MemorySpace::kRegister));
    return VectorizeInnermost(parts.stage, s_.Loop(parts.stage, axis.var->name)).status();
  }

  // A single element of each row, or of each of `width` rows in lanes, stays in a register.
  MemorySpace SpaceFor(const Member& m, int64_t width) const {
    int64_t elements = width;
    for (size_t d = 0; d < m.stage.axes.size(); ++d) {
      bool is_row = false;
      for (size_t row : group_.rows) is_row |= m.along.at(row) == d;
      if (!is_row) elements *= m.stage.axes[d].extent;
    }
    return elements == width ? MemorySpace::kRegister : MemorySpace::kScratch;
  }

  absl::Status UnrollTerms(const Stage& stage) {
    int64_t terms = 1;
    for (size_t i = stage.reduce_axes.size(); i-- > 0;) {
      terms *= stage.reduce_axes[i].extent;
      if (terms > kMaxUnrolledTerms) break;
      RETURN_IF_ERROR(s_.Unroll(LoopOf(stage, stage.reduce_axes[i])));
    }
    return absl::OkStatus();
  }

  absl::Status ScheduleWithinRows() {
    RETURN_IF_ERROR(OrderRows());
    const size_t rows = group_.rows.size();
    if (root_.is_reduction()) {
      RETURN_IF_ERROR(Share(rows));
      ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s_.Loops(HandleOf(root_)));
      return ReduceInLanes(root_, loops[loops.size() - root_.reduce_axes.size() - 1]);
    }
    if (const Axis* inner = InnerAxis(root_, Identity());
        inner != nullptr && Contiguity(root_, *inner) >= 0) {
      ASSIGN_OR_RETURN(std::vector<LoopHandle> loops, s_.Loops(HandleOf(root_)));
      MoveToEnd(loops, LoopOf(root_, *inner));
      RETURN_IF_ERROR(s_.Reorder(loops));
      RETURN_IF_ERROR(SplitIntoLanes(s_, LoopOf(root_, *inner), lanes_, lanes_, true).status());
    }
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> before, s_.Loops(HandleOf(root_)));
    RETURN_IF_ERROR(Share(rows));
    ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s_.Loops(HandleOf(root_)));
    const LoopHandle at = loops[rows - 1 - (before.size() - loops.size())];
    for (const Member& m : group_.members) RETURN_IF_ERROR(AttachWithin(m, at));
    return absl::OkStatus();
  }

  absl::Status AttachWithin(const Member& m, const LoopHandle& at) {
    const StageHandle stage = HandleOf(m.stage);
    const Axis* inner = InnerAxis(m.stage, m.along);
    const bool suits = inner != nullptr && Contiguity(m.stage, *inner) >= 0;
    const bool reduces = suits && m.stage.is_reduction() && inner == &m.stage.reduce_axes.back();
    std::optional<FactoredReduction> partial;
    if (reduces && inner->extent >= lanes_) {
      ASSIGN_OR_RETURN(partial, SplitReduction(m.stage));
    }
    // A buffer in registers has no room for a last vector with masked lanes.
    const bool ragged = inner != nullptr && inner->extent % lanes_ != 0;
    RETURN_IF_ERROR(s_.ComputeAt(stage, at, ragged ? MemorySpace::kScratch : SpaceFor(m, 1)));
    if (partial) {
      const bool has_inner = std::any_of(m.stage.axes.begin(), m.stage.axes.end(), [&](const Axis& axis) {
        return s_.Extent(LoopOf(m.stage, axis)).value_or(1) > 1;
      });
      return FinishReduction(m.stage, *partial, has_inner ? LoopOf(m.stage, m.stage.axes.back()) : at);
    }
    if (!suits || reduces) return m.stage.is_reduction() ? UnrollTerms(m.stage) : absl::OkStatus();
    const int64_t width = m.stage.is_reduction() ? kPartialVectors * lanes_ : lanes_;
    ASSIGN_OR_RETURN(const LaneLoops split, SplitIntoLanes(s_, LoopOf(m.stage, *inner), width, lanes_, true));
    if (!split.lanes) return absl::OkStatus();
    ASSIGN_OR_RETURN(std::vector<LoopHandle> loops, s_.Loops(stage));
    MoveToEnd(loops, split.lanes);
    RETURN_IF_ERROR(s_.Reorder(loops));
    if (m.stage.is_reduction() || !split.vectors) return absl::OkStatus();
    if (IsExpensive(m.stage) && inner->extent >= kLongRow * lanes_)
      RETURN_IF_ERROR(PrefetchNextRow(m.stage, split.vectors));
    return PeelRagged(split.vectors, inner->extent);
  }

  // Prefetches the next row while this one is used: rows end before the hardware looks beyond them.
  absl::Status PrefetchNextRow(const Stage& stage, const LoopHandle& loop) {
    std::map<std::string, Buffer> read;  // in an order that does not change from run to run
    VisitLoads(stage, [&](const Expr& load) {
      const int64_t bytes = load->buffer->num_elements() * DTypeSize(load->buffer->dtype);
      if (load->buffer->space == MemorySpace::kGlobal && bytes * 2 > target_.l2_bytes)
        read.emplace(load->buffer->name, load->buffer);
    });
    for (const auto& [name, buffer] : read) RETURN_IF_ERROR(s_.Prefetch(buffer, loop));
    return absl::OkStatus();
  }

  // Peels the last vectors of a row, in which lanes are left over.
  absl::Status PeelRagged(const LoopHandle& loop, int64_t extent) {
    ASSIGN_OR_RETURN(const int64_t vectors, s_.Extent(loop));
    if (extent % lanes_ == 0) return absl::OkStatus();
    const int64_t ragged = vectors - extent / lanes_;
    return ragged < vectors && ragged <= kMaxPeeled ? s_.Peel(loop, 0, ragged) : absl::OkStatus();
  }

  // Reduces along the last reduce axis: partial results in lanes, computed at loop `at`, or beforehand.
  absl::Status ReduceInLanes(const Stage& stage, const LoopHandle& at) {
    const Axis& inner = stage.reduce_axes.back();
    if (inner.extent < lanes_ || Contiguity(stage, inner) < 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(const FactoredReduction partial, SplitReduction(stage));
    return FinishReduction(stage, partial, at);
  }

  // Splits a reduction into one for each lane, and one over the lanes.
  absl::StatusOr<FactoredReduction> SplitReduction(const Stage& stage) {
    const Axis& inner = stage.reduce_axes.back();
    const int64_t width = inner.extent >= kPartialVectors * lanes_ ? kPartialVectors * lanes_ : lanes_;
    ASSIGN_OR_RETURN(const SplitLoops terms, s_.Split(LoopOf(stage, inner), width));
    return s_.Rfactor(HandleOf(stage), terms.inner);
  }

  // Schedules a stage's `partial` results, which are computed at loop `at`, or beforehand.
  absl::Status FinishReduction(const Stage& stage, const FactoredReduction& partial, const LoopHandle& at) {
    const Stage whole = StageOf(partial.stage);  // before its sums are split
    ASSIGN_OR_RETURN(const std::optional<FactoredReduction> parts, SumInParts(partial.stage));
    if (at) RETURN_IF_ERROR(s_.ComputeAt(partial.stage, at, MemorySpace::kRegister));
    ASSIGN_OR_RETURN(const int64_t width, VectorizeInnermost(partial.stage, partial.axis));
    if (parts) RETURN_IF_ERROR(AttachParts(*parts, whole.axes.back()));
    // The loop over whole vectors of terms, unless it was split.
    const LoopHandle vectors =
        s_.Loop(parts ? parts->stage : partial.stage, whole.reduce_axes.back().var->name);
    if (stage.reduce_axes.back().extent % width != 0 && s_.Extent(vectors).ok())
      RETURN_IF_ERROR(s_.Peel(vectors, 0, 1));
    return s_.Vectorize(partial.last);
  }

  Schedule& s_;
  const StageGroup& group_;
  const Stage& root_;
  const Workload& workload_;
  const Target& target_;
  int64_t lanes_;
  int64_t work_;
};

}  // namespace

std::string LoopsWhyNot(const Workload&, const Target&) { return ""; }
std::vector<Knob> LoopsSpace(const Workload&, const Target&) { return {}; }
Config LoopsDefault(const Workload&, const Target&) { return {}; }

absl::Status LoopsApply(Schedule& s, const Workload& workload, const Config&, const Target& target) {
  RETURN_IF_ERROR(InlineElementwise(s, workload));
  std::set<Buffer> kept;
  for (const LoopNest::Param& param : workload.definition.params) kept.insert(param.buffer);
  const std::vector<Stage> stages = s.Stages();
  std::set<std::string> taken;
  for (size_t i = stages.size(); i-- > 0;) {
    if (stages[i].is_imperative() || taken.contains(stages[i].name)) continue;
    const StageGroup group = FindGroup(stages, i, taken, kept);
    for (const Member& m : group.members) taken.insert(m.stage.name);
    RETURN_IF_ERROR(GroupScheduler(s, group, workload, target).Run());
  }
  return absl::OkStatus();
}

}  // namespace attune

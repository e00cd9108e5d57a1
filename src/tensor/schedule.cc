#include "tensor/schedule.h"

#include <string_view>

#include "base/status.h"
#include "tensor/schedule/compute_after.h"
#include "tensor/schedule/compute_at.h"
#include "tensor/schedule/overcompute.h"
#include "tensor/schedule/pack.h"
#include "tensor/schedule/prefetch.h"
#include "tensor/schedule/transform_loops.h"

namespace attune {
namespace {

// A primitive of the trace, and the transformation that it stands for.
struct PrimitiveRow {
  std::string_view op;
  int names;    // -1: any number
  int numbers;  // likewise
  absl::Status (*apply)(LoopTree& tree, const Primitive& p);
};

template <LoopKind kKind>
absl::Status Mark(LoopTree& tree, const Primitive& p) {
  return MarkLoop(tree, p.names[0], kKind, kKind == LoopKind::kBound ? p.names[1] : "");
}

template <bool kShifted>
absl::Status SplitOne(LoopTree& tree, const Primitive& p) {
  return SplitLoop(tree, p.names[0], p.numbers[0], kShifted);
}

template <bool kWithin>
absl::Status ComputeAtOne(LoopTree& tree, const Primitive& p) {
  return ComputeStageAt(tree, p.names[0], p.names[1], p.numbers[0], kWithin);
}

template <bool kNextTile>
absl::Status PrefetchOne(LoopTree& tree, const Primitive& p) {
  return AddPrefetch(tree, p.names[0], p.names[1], kNextTile);
}

constexpr PrimitiveRow kPrimitives[] = {
    {"split", 1, 1, SplitOne<false>},
    {"split_overlapping", 1, 1, SplitOne<true>},
    {"fuse", 3, 0,
     [](LoopTree& tree, const Primitive& p) { return FuseLoops(tree, p.names[0], p.names[1], p.names[2]); }},
    {"reorder", -1, 0, [](LoopTree& tree, const Primitive& p) { return ReorderLoops(tree, p.names); }},
    {"unroll", 1, 0, Mark<LoopKind::kUnrolled>},
    {"vectorize", 1, 0, Mark<LoopKind::kVectorized>},
    {"parallel", 1, 0, Mark<LoopKind::kParallel>},
    {"dot", 1, 0, Mark<LoopKind::kDot>},
    {"matrix", 1, 0, Mark<LoopKind::kMatrix>},
    {"bind", 2, 0, Mark<LoopKind::kBound>},
    {"peel", 1, 2,
     [](LoopTree& tree, const Primitive& p) {
       return PeelLoop(tree, p.names[0], p.numbers[0], p.numbers[1]);
     }},
    {"inline", 1, 0, [](LoopTree& tree, const Primitive& p) { return InlineStage(tree, p.names[0]); }},
    {"compute_at", 2, 1, ComputeAtOne<false>},
    {"compute_within", 2, 1, ComputeAtOne<true>},
    {"compute_after", 2, 0,
     [](LoopTree& tree, const Primitive& p) { return ComputeStageAfter(tree, p.names[0], p.names[1]); }},
    {"cache_write", 1, 0, [](LoopTree& tree, const Primitive& p) { return CacheWrite(tree, p.names[0]); }},
    {"cache_read", 2, 0,
     [](LoopTree& tree, const Primitive& p) { return CacheRead(tree, p.names[0], p.names[1]); }},
    {"rfactor", 2, 1,
     [](LoopTree& tree, const Primitive& p) {
       return FactorReduction(tree, p.names[0], p.names[1], p.numbers[0]);
     }},
    {"prefetch", 2, 0, PrefetchOne<false>},
    {"prefetch_next_tile", 2, 0, PrefetchOne<true>},
    {"pack", 2, -1,
     [](LoopTree& tree, const Primitive& p) { return PackBuffer(tree, p.names[0], p.names[1], p.numbers); }},
    {"overcompute", 1, 0,
     [](LoopTree& tree, const Primitive& p) { return OvercomputeStage(tree, p.names[0]); }},
};

}  // namespace

absl::StatusOr<Schedule> Schedule::Replay(ComputeDef def, const std::vector<Primitive>& trace) {
  Schedule schedule(std::move(def));
  for (const Primitive& primitive : trace) RETURN_IF_ERROR(schedule.Apply(primitive));
  return schedule;
}

absl::Status Schedule::Apply(const Primitive& primitive) {
  for (const PrimitiveRow& row : kPrimitives) {
    if (row.op != primitive.op) continue;
    if ((row.names >= 0 && static_cast<int>(primitive.names.size()) != row.names) ||
        (row.numbers >= 0 && static_cast<int>(primitive.numbers.size()) != row.numbers)) {
      return InvalidInput("schedule primitive '", primitive.op, "': wrong number of arguments");
    }
    RETURN_IF_ERROR(row.apply(tree_, primitive));
    trace_.push_back(primitive);
    return absl::OkStatus();
  }
  return InvalidInput("no schedule primitive '", primitive.op, "'");
}

absl::StatusOr<int64_t> Schedule::Extent(const std::string& loop) const {
  ASSIGN_OR_RETURN(const ConstLoopRef ref, tree_.FindLoop(loop));
  return ref.loop().extent;
}

std::vector<Stage> Schedule::Stages() const {
  std::vector<Stage> stages;
  for (const ScheduledStage& state : tree_.stages()) {
    if (!state.inlined) stages.push_back(state.stage);
  }
  return stages;
}

absl::StatusOr<std::vector<std::string>> Schedule::Loops(const std::string& stage) const {
  ASSIGN_OR_RETURN(const ScheduledStage* state, tree_.FindStage(stage));
  std::vector<std::string> names;
  for (const StageLoop& loop : state->loops) names.push_back(loop.name);
  return names;
}

absl::Status Schedule::Split(const std::string& loop, int64_t factor) {
  return Apply({"split", {loop}, {factor}});
}
absl::Status Schedule::SplitOverlapping(const std::string& loop, int64_t factor) {
  return Apply({"split_overlapping", {loop}, {factor}});
}
absl::Status Schedule::Fuse(const std::string& outer, const std::string& inner, const std::string& fused) {
  return Apply({"fuse", {outer, inner, fused}, {}});
}
absl::Status Schedule::Reorder(const std::vector<std::string>& loops) {
  return Apply({"reorder", loops, {}});
}
absl::Status Schedule::Tile(const std::string& y, const std::string& x, int64_t y_factor, int64_t x_factor) {
  RETURN_IF_ERROR(Split(y, y_factor));
  RETURN_IF_ERROR(Split(x, x_factor));
  return Reorder({y + ".o", x + ".o", y + ".i", x + ".i"});
}
absl::Status Schedule::Unroll(const std::string& loop) { return Apply({"unroll", {loop}, {}}); }
absl::Status Schedule::Vectorize(const std::string& loop) { return Apply({"vectorize", {loop}, {}}); }
absl::Status Schedule::Parallel(const std::string& loop) { return Apply({"parallel", {loop}, {}}); }
absl::Status Schedule::Dot(const std::string& loop) { return Apply({"dot", {loop}, {}}); }
absl::Status Schedule::Matrix(const std::string& loop) { return Apply({"matrix", {loop}, {}}); }
absl::Status Schedule::Bind(const std::string& loop, const std::string& hardware_index) {
  return Apply({"bind", {loop, hardware_index}, {}});
}
absl::Status Schedule::Peel(const std::string& loop, int64_t front, int64_t back) {
  return Apply({"peel", {loop}, {front, back}});
}
absl::Status Schedule::Inline(const std::string& stage) { return Apply({"inline", {stage}, {}}); }
absl::Status Schedule::ComputeAt(const std::string& stage, const std::string& loop, MemorySpace space) {
  return Apply({"compute_at", {stage, loop}, {static_cast<int64_t>(space)}});
}
absl::Status Schedule::ComputeWithin(const std::string& stage, const std::string& loop, MemorySpace space) {
  return Apply({"compute_within", {stage, loop}, {static_cast<int64_t>(space)}});
}
absl::Status Schedule::ComputeAfter(const std::string& stage, const std::string& loop) {
  return Apply({"compute_after", {stage, loop}, {}});
}
absl::Status Schedule::CacheWrite(const std::string& stage) { return Apply({"cache_write", {stage}, {}}); }
absl::Status Schedule::CacheRead(const std::string& buffer, const std::string& stage) {
  return Apply({"cache_read", {buffer, stage}, {}});
}
absl::Status Schedule::Rfactor(const std::string& stage, const std::string& loop, int64_t axis) {
  return Apply({"rfactor", {stage, loop}, {axis}});
}
absl::Status Schedule::Pack(const std::string& buffer, const std::string& stage,
                            const std::vector<std::pair<int64_t, int64_t>>& splits,
                            const std::vector<int64_t>& order) {
  Primitive primitive{"pack", {buffer, stage}, {static_cast<int64_t>(splits.size())}};
  for (const auto& [axis, block] : splits) primitive.numbers.insert(primitive.numbers.end(), {axis, block});
  primitive.numbers.insert(primitive.numbers.end(), order.begin(), order.end());
  return Apply(primitive);
}
absl::Status Schedule::Overcompute(const std::string& stage) { return Apply({"overcompute", {stage}, {}}); }
absl::Status Schedule::Prefetch(const std::string& buffer, const std::string& loop) {
  return Apply({"prefetch", {buffer, loop}, {}});
}
absl::Status Schedule::PrefetchNextTile(const std::string& buffer, const std::string& loop) {
  return Apply({"prefetch_next_tile", {buffer, loop}, {}});
}

}  // namespace attune

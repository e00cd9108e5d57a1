#include "tensor/schedule.h"

#include "base/status.h"
#include "tensor/schedule/primitives.h"

namespace attune {

absl::StatusOr<Schedule> Schedule::Replay(ComputeDef def, const std::vector<Primitive>& trace) {
  Schedule schedule(std::move(def));
  for (const Primitive& primitive : trace) RETURN_IF_ERROR(schedule.Apply(primitive));
  return schedule;
}

absl::Status Schedule::Apply(const Primitive& primitive) {
  RETURN_IF_ERROR(ApplyPrimitive(tree_, primitive));
  trace_.push_back(primitive);
  return absl::OkStatus();
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

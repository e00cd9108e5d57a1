#include "tensor/schedule.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tensor/schedule/primitives.h"

namespace attune {

absl::StatusOr<Schedule> Schedule::Replay(ComputeDef def, const std::vector<Primitive>& trace,
                                          std::span<const std::string_view> may_fail) {
  Schedule schedule(std::move(def));
  for (const Primitive& primitive : trace) {
    const absl::Status applied = schedule.Apply(primitive);
    if (std::ranges::find(may_fail, primitive.op) == may_fail.end()) RETURN_IF_ERROR(applied);
  }
  return schedule;
}

LoopHandle Schedule::Loop(const StageHandle& stage, std::string_view axis) const {
  const std::string name = absl::StrCat(stage.name(), ".", axis);
  const absl::StatusOr<ConstLoopRef> ref = tree_.FindLoop(name);
  return LoopHandle(ref.ok() ? ref->loop().var : MakeVar(name));
}

std::vector<LoopHandle> Schedule::LoopsOver(const StageHandle& stage,
                                            std::initializer_list<std::string_view> axes) const {
  std::vector<LoopHandle> loops;
  for (const std::string_view axis : axes) loops.push_back(Loop(stage, axis));
  return loops;
}

absl::StatusOr<std::vector<LoopHandle>> Schedule::Loops(const StageHandle& stage) const {
  ASSIGN_OR_RETURN(const ScheduledStage* state, tree_.FindStage(stage.name()));
  std::vector<LoopHandle> loops;
  for (const StageLoop& loop : state->loops) loops.push_back(LoopHandle(loop.var));
  return loops;
}

absl::StatusOr<int64_t> Schedule::Extent(const LoopHandle& loop) const {
  ASSIGN_OR_RETURN(const ConstLoopRef ref, Find(loop));
  return ref.loop().extent;
}

absl::StatusOr<Buffer> Schedule::Output(const StageHandle& stage) const {
  ASSIGN_OR_RETURN(const ScheduledStage* state, tree_.FindStage(stage.name()));
  return state->stage.output;
}

std::vector<Stage> Schedule::Stages() const {
  std::vector<Stage> stages;
  for (const ScheduledStage& state : tree_.stages()) {
    if (!state.inlined) stages.push_back(state.stage);
  }
  return stages;
}

absl::Status Schedule::Apply(const Primitive& primitive) {
  RETURN_IF_ERROR(ApplyPrimitive(tree_, primitive));
  trace_.push_back(primitive);
  return absl::OkStatus();
}

absl::StatusOr<ConstLoopRef> Schedule::Find(const LoopHandle& loop) const {
  const ConstLoopRef ref = tree_.LoopOf(loop.var_);
  if (ref.state != nullptr) return ref;
  return InvalidInput("no loop '", loop ? loop.var_->name : "", "'");
}

absl::Status Schedule::ApplyTo(std::string_view op, std::vector<std::string> names,
                               const std::vector<LoopHandle>& loops, std::vector<int64_t> numbers) {
  for (const LoopHandle& loop : loops) {
    ASSIGN_OR_RETURN(const ConstLoopRef ref, Find(loop));
    names.push_back(ref.loop().name);
  }
  return Apply({std::string(op), std::move(names), std::move(numbers)});
}

const ScheduledStage& Schedule::StageBefore(const StageHandle& reader) const {
  const auto is_reader = [&](const ScheduledStage& state) {
    return state.stage.name == reader.name() && !state.inlined;
  };
  return *std::prev(std::ranges::find_if(tree_.stages(), is_reader));
}

absl::StatusOr<SplitLoops> Schedule::SplitBy(std::string_view op, const LoopHandle& loop, int64_t factor) {
  ASSIGN_OR_RETURN(const ConstLoopRef ref, Find(loop));
  RETURN_IF_ERROR(ApplyTo(op, {}, {loop}, {factor}));
  return SplitLoops{LoopHandle(ref.loop().var), LoopHandle(ref.state->loops[ref.index + 1].var)};
}

absl::StatusOr<SplitLoops> Schedule::Split(const LoopHandle& loop, int64_t factor) {
  return SplitBy("split", loop, factor);
}

absl::StatusOr<SplitLoops> Schedule::SplitOverlapping(const LoopHandle& loop, int64_t factor) {
  return SplitBy("split_overlapping", loop, factor);
}

absl::StatusOr<LoopHandle> Schedule::Fuse(const LoopHandle& outer, const LoopHandle& inner,
                                          const std::string& name) {
  ASSIGN_OR_RETURN(const ConstLoopRef first, Find(outer));
  ASSIGN_OR_RETURN(const ConstLoopRef second, Find(inner));
  RETURN_IF_ERROR(Apply({"fuse", {first.loop().name, second.loop().name, name}, {}}));
  return LoopHandle(first.loop().var);
}

absl::Status Schedule::Reorder(const std::vector<LoopHandle>& loops) { return ApplyTo("reorder", {}, loops); }
absl::Status Schedule::Unroll(const LoopHandle& loop) { return ApplyTo("unroll", {}, {loop}); }
absl::Status Schedule::Vectorize(const LoopHandle& loop) { return ApplyTo("vectorize", {}, {loop}); }
absl::Status Schedule::Parallel(const LoopHandle& loop) { return ApplyTo("parallel", {}, {loop}); }
absl::Status Schedule::Dot(const LoopHandle& loop) { return ApplyTo("dot", {}, {loop}); }
absl::Status Schedule::Matrix(const LoopHandle& loop) { return ApplyTo("matrix", {}, {loop}); }

absl::Status Schedule::Bind(const LoopHandle& loop, const std::string& hardware_index) {
  ASSIGN_OR_RETURN(const ConstLoopRef ref, Find(loop));
  return Apply({"bind", {ref.loop().name, hardware_index}, {}});
}

absl::Status Schedule::Peel(const LoopHandle& loop, int64_t front, int64_t back) {
  return ApplyTo("peel", {}, {loop}, {front, back});
}

absl::Status Schedule::Inline(const StageHandle& stage) { return ApplyTo("inline", {stage.name()}, {}); }

absl::Status Schedule::ComputeAt(const StageHandle& stage, const LoopHandle& loop, MemorySpace space) {
  return ApplyTo("compute_at", {stage.name()}, {loop}, {static_cast<int64_t>(space)});
}

absl::Status Schedule::ComputeWithin(const StageHandle& stage, const LoopHandle& loop, MemorySpace space) {
  return ApplyTo("compute_within", {stage.name()}, {loop}, {static_cast<int64_t>(space)});
}

absl::Status Schedule::ComputeAfter(const StageHandle& stage, const LoopHandle& loop) {
  return ApplyTo("compute_after", {stage.name()}, {loop});
}

absl::StatusOr<StageHandle> Schedule::CacheWrite(const StageHandle& stage) {
  RETURN_IF_ERROR(ApplyTo("cache_write", {stage.name()}, {}));
  return StageHandle(StageBefore(stage).stage.name);
}

absl::StatusOr<StageHandle> Schedule::CacheRead(const Buffer& buffer, const StageHandle& stage) {
  RETURN_IF_ERROR(ApplyTo("cache_read", {buffer->name, stage.name()}, {}));
  return StageHandle(StageBefore(stage).stage.name);
}

absl::StatusOr<FactoredReduction> Schedule::Rfactor(const StageHandle& stage, const LoopHandle& loop,
                                                    int64_t axis) {
  RETURN_IF_ERROR(ApplyTo("rfactor", {stage.name()}, {loop}, {axis}));
  ASSIGN_OR_RETURN(const ScheduledStage* state, tree_.FindStage(stage.name()));
  const ScheduledStage& factored = StageBefore(stage);
  const size_t axes = factored.stage.axes.size();
  const size_t place = axis == kLast ? axes - 1 : static_cast<size_t>(axis);
  FactoredReduction result = {StageHandle(factored.stage.name),
                              LoopHandle(factored.loops[place].var),
                              {},
                              LoopHandle(state->loops.back().var)};
  for (size_t i = axes; i < factored.loops.size(); ++i)
    result.terms.push_back(LoopHandle(factored.loops[i].var));
  return result;
}

absl::StatusOr<StageHandle> Schedule::Pack(const Buffer& buffer, const StageHandle& stage,
                                           const std::vector<std::pair<int64_t, int64_t>>& splits,
                                           const std::vector<int64_t>& order) {
  std::vector<int64_t> numbers = {static_cast<int64_t>(splits.size())};
  for (const auto& [axis, block] : splits) numbers.insert(numbers.end(), {axis, block});
  numbers.insert(numbers.end(), order.begin(), order.end());
  RETURN_IF_ERROR(ApplyTo("pack", {buffer->name, stage.name()}, {}, std::move(numbers)));
  return StageHandle(StageBefore(stage).stage.name);
}

absl::Status Schedule::Overcompute(const StageHandle& stage) {
  return ApplyTo("overcompute", {stage.name()}, {});
}

absl::Status Schedule::Prefetch(const Buffer& buffer, const LoopHandle& loop) {
  return ApplyTo("prefetch", {buffer->name}, {loop});
}

absl::Status Schedule::PrefetchNextTile(const Buffer& buffer, const LoopHandle& loop) {
  return ApplyTo("prefetch_next_tile", {buffer->name}, {loop});
}

}  // namespace attune

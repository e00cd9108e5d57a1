#include "lower/strategies/attention_parts.h"

#include "base/checked.h"
#include "base/status.h"

namespace attune {

std::string AnyAttentionWhyNot(const Workload& workload) {
  if (workload.anchor == nullptr || workload.anchor->op() != Op::kAttention)
    return "the anchor is not attention";
  if (workload.num_outputs != 1) return "more than one output";
  const TensorType& type = workload.anchor->output()->type();
  const Node& last = *workload.region->outputs()[0].value->producer();
  const bool transposed = last.op() == Op::kTranspose && last.attrs().IntList("perm").back() == 3 &&
                          last.input(0)->type().dims == type.dims;
  if (!workload.output_type().layout.is_plain()) return "the output is blocked";
  if (!transposed && workload.output_type().shape() != type.shape()) return "the epilogue changes the shape";
  for (int i = 0; i < 3; ++i) {
    const Node* producer = workload.anchor->input(i)->producer();
    if (producer != nullptr && !IsMovement(*producer) && producer->op() != Op::kCast)
      return "an operand is computed in the group";
    if (!workload.anchor->input(i)->type().layout.is_plain()) return "an operand is in blocks";
  }
  if (type.num_elements() == 0 || workload.anchor->input(1)->type().num_elements() == 0)
    return "nothing to compute";
  return "";
}

int64_t VectorsIn(int64_t n, int64_t lanes, int64_t limit) {
  while (limit > 1 && CeilDiv(n, lanes) % limit != 0) limit /= 2;
  return limit;
}

bool IsMovement(const Node& node) {
  return node.op() == Op::kReshape || node.op() == Op::kTranspose || node.op() == Op::kSlice ||
         node.op() == Op::kBroadcast;
}

absl::Status InlineMovements(Schedule& s, const Workload& workload) {
  for (const auto& node : workload.region->nodes()) {
    if (IsMovement(*node) && !workload.region->IsOutput(node->output()))
      RETURN_IF_ERROR(s.Inline(s.StageNamed(StageNameOf(workload, *node))));
  }
  return absl::OkStatus();
}

std::array<LoopHandle, 4> AttentionOutputLoops(const Schedule& s, const Workload& workload) {
  const Node& last = *workload.region->outputs()[0].value->producer();
  const StageHandle out = s.StageNamed(workload.output_stage);
  std::array<LoopHandle, 4> loops;
  for (size_t d = 0; d < 4; ++d) {
    const size_t axis =
        last.op() == Op::kTranspose ? static_cast<size_t>(last.attrs().IntList("perm")[d]) : d;
    loops[axis] = s.Loop(out, absl::StrCat("d", d));
  }
  return loops;
}

absl::StatusOr<LoopHandle> ParallelizeAttentionOutput(Schedule& s, const Workload& workload) {
  const StageHandle out = s.StageNamed(workload.output_stage);
  RETURN_IF_ERROR(ParallelizeOuter(s, out, 3));
  ASSIGN_OR_RETURN(const std::vector<LoopHandle> loops, s.Loops(out));
  return loops[0];
}

absl::Status ScheduleRowReduction(Schedule& s, const StageHandle& stage, const LoopHandle& at,
                                  int64_t lanes) {
  ASSIGN_OR_RETURN(const SplitLoops terms, s.Split(s.Loop(stage, "r0"), lanes));
  ASSIGN_OR_RETURN(const FactoredReduction partial, s.Rfactor(stage, terms.inner));
  RETURN_IF_ERROR(s.ComputeAt(stage, at, MemorySpace::kScratch));
  RETURN_IF_ERROR(s.Vectorize(partial.last));
  RETURN_IF_ERROR(s.ComputeAt(partial.stage, s.Loop(stage, "d2"), MemorySpace::kRegister));
  RETURN_IF_ERROR(s.Reorder({partial.terms.front(), partial.axis}));
  return s.Vectorize(partial.axis);
}

}  // namespace attune

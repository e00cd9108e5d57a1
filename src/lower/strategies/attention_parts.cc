#include "lower/strategies/attention_parts.h"

#include "base/checked.h"
#include "base/status.h"

namespace attune {

std::string AnyAttentionWhyNot(const Workload& workload) {
  if (workload.anchor == nullptr || workload.anchor->op() != Op::kAttention)
    return "the anchor is no attention";
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

std::vector<std::string> MovementStages(const Workload& workload) {
  std::vector<std::string> stages;
  for (const auto& node : workload.region->nodes()) {
    if (IsMovement(*node) && !workload.region->IsOutput(node->output()))
      stages.push_back(BufferName(workload, node->output()));
  }
  return stages;
}

std::array<std::string, 4> AttentionOutputAxes(const Workload& workload) {
  const Node& last = *workload.region->outputs()[0].value->producer();
  std::array<std::string, 4> axes;
  for (size_t d = 0; d < 4; ++d) {
    const size_t axis =
        last.op() == Op::kTranspose ? static_cast<size_t>(last.attrs().IntList("perm")[d]) : d;
    axes[axis] = absl::StrCat(workload.output_stage, ".d", d);
  }
  return axes;
}

absl::Status ScheduleRowReduction(Schedule& s, const std::string& stage, const std::string& at,
                                  int64_t lanes) {
  const std::string partial = stage + ".rf";
  RETURN_IF_ERROR(s.Split(stage + ".r0", lanes));
  RETURN_IF_ERROR(s.Rfactor(stage, stage + ".r0.i"));
  RETURN_IF_ERROR(s.ComputeAt(stage, at, MemorySpace::kScratch));
  RETURN_IF_ERROR(s.Vectorize(stage + ".r0.i"));
  RETURN_IF_ERROR(s.ComputeAt(partial, stage + ".d2", MemorySpace::kRegister));
  RETURN_IF_ERROR(s.Reorder({partial + ".r0.o", partial + ".r0.i"}));
  return s.Vectorize(partial + ".r0.i");
}

}  // namespace attune

// Means over the pixels of a feature map, in the kernel that computes it.
//
// Squeeze and excitation needs the mean of each channel of a depthwise convolution's result. A kernel of
// its own would read all of that result again, from L3 or from another core's L2. Instead, a kernel that
// works on channels one by one adds a row up while it is still in L1. The sums of the rows, a few vectors
// for each block of channels, are added at the end, in the same order for any number of threads.
#include <limits>

#include "base/status.h"
#include "lower/strategies/conv_parts.h"

namespace attune {

const Node* AverageOf(const Workload& workload) {
  if (workload.num_outputs != 2) return nullptr;
  const Node* node = workload.region->outputs()[1].value->producer();
  if (node == nullptr || node->op() != Op::kReduceMean || node->input(0) != workload.result) return nullptr;
  const TensorType &map = node->input(0)->type(), &mean = node->output()->type();
  const bool is_by_channel =
      map.rank() == 4 && mean.rank() == 4 && node->attrs().IntList("axes") == Ints{2, 3};
  const bool is_alike = map.dtype == DType::kF32 && mean.layout == map.layout && !map.layout.is_plain();
  // Rows are added up with all of their lanes, so all lanes must be computed.
  const bool is_whole = !workload.FindStage(workload.output_stage).where;
  return is_by_channel && is_alike && is_whole && node->output()->users().empty() ? node : nullptr;
}

bool MayAverage(const Graph&, const Graph& second, int) {
  const auto& nodes = second.nodes();
  return nodes.size() == 1 && nodes.front()->op() == Op::kReduceMean;
}

absl::StatusOr<double> AverageSavings(const MergedGroups&, const Workload& workload, const Target& target) {
  if (AverageOf(workload) == nullptr) return -std::numeric_limits<double>::infinity();
  return CyclesThroughCaches(workload.result->type().num_physical_bytes(), target);
}

absl::Status AverageRows(Schedule& s, const Workload& workload, const LoopHandle& rows) {
  const Node* average = AverageOf(workload);
  if (average == nullptr) return absl::OkStatus();
  const std::string name = StageNameOf(workload, *average);
  const StageHandle mean = s.StageNamed(name), total = s.StageNamed(name + ".acc");
  constexpr int64_t kAfterBlocks = 2;
  ASSIGN_OR_RETURN(const FactoredReduction sums, s.Rfactor(total, s.Loop(total, "r0"), kAfterBlocks));
  const StageHandle& row = sums.stage;
  RETURN_IF_ERROR(s.ComputeAfter(row, rows));
  RETURN_IF_ERROR(s.ComputeAt(total, s.Loop(mean, "d1"), MemorySpace::kRegister));
  RETURN_IF_ERROR(s.Reorder(s.LoopsOver(row, {"r1", "v"})));
  RETURN_IF_ERROR(s.Reorder(s.LoopsOver(total, {"r0", "v"})));
  for (const StageHandle& stage : {row, total, mean}) RETURN_IF_ERROR(s.Vectorize(s.Loop(stage, "v")));
  return absl::OkStatus();
}

}  // namespace attune

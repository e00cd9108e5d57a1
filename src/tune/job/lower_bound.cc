#include "tune/job/lower_bound.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lower/strategy.h"

namespace attune {
namespace {

// The type of the numbers that the task's kernels multiply; of several, the one with the highest peak.
Multiplicand MultiplicandOf(const Graph& region) {
  Multiplicand fastest = Multiplicand::kF32;
  for (const auto& node : region.nodes()) {
    if (IsIntegerProduct(node->op())) return Multiplicand::kInt8;
    if (GetOpInfo(node->op()).category != OpCategory::kContraction) continue;
    const auto is_bf16 = [&](int i) { return node->input(i)->type().dtype == DType::kBF16; };
    if (is_bf16(0) && is_bf16(1)) fastest = Multiplicand::kBF16;
  }
  return fastest;
}

}  // namespace

absl::StatusOr<Work> LeastWork(const TuningTask& task, const Target& target) {
  ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
  double least = 1;
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.why_not(workload, target).empty()) least = std::min(least, strategy.least_work);
  }
  const TaskDemand demand = DemandOf(task);
  return Work{.flops = least * demand.contraction_flops + demand.other_flops,
              .multiplicand = MultiplicandOf(*task.region),
              .bytes_read = demand.bytes_read,
              .bytes_written = demand.bytes_written};
}

absl::Status CheckPeaks(const Peaks& peaks, const Target& target) {
  constexpr double kMostGhz = 8, kOperations = 2;
  // Products of narrow types are at most this many times as fast as those of f32, in a matrix unit.
  constexpr double kMostOfNarrow = 64;
  const double most = kMostGhz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  const double narrow = std::max(peaks.bf16_gflops_per_core, peaks.int8_gops_per_core);
  if (peaks.gflops_per_core > 0 && peaks.gflops_per_core <= most && narrow <= kMostOfNarrow * most)
    return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the device claims ", peaks.gflops_per_core,
                                          " GFLOP/s for a core; a ", target.name, " has less than ", most));
}

}  // namespace attune

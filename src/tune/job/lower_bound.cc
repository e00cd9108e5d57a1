#include "tune/job/lower_bound.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "lower/strategy.h"

namespace attune {
namespace {

// The type of the numbers that the task's kernels multiply.
Multiplicand MultiplicandOf(const Workload& workload) {
  const Node* const anchor = workload.anchor;
  if (anchor == nullptr || anchor->num_inputs() < 2) return Multiplicand::kF32;
  if (IsIntegerProduct(anchor->op())) return Multiplicand::kInt8;
  const bool is_bf16 =
      anchor->input(0)->type().dtype == DType::kBF16 && anchor->input(1)->type().dtype == DType::kBF16;
  return is_bf16 ? Multiplicand::kBF16 : Multiplicand::kF32;
}

}  // namespace

absl::StatusOr<Work> LeastWork(const TuningTask& task, const Target& target) {
  ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
  double flops = task.flops;
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.why_not(workload, target).empty()) flops = std::min(flops, strategy.least_work * task.flops);
  }
  return Work{.flops = flops, .multiplicand = MultiplicandOf(workload), .bytes = task.bytes, .calls = 1};
}

absl::StatusOr<double> LowerBoundSeconds(const TuningTask& task, const Target& target, const Peaks& peaks,
                                         int threads) {
  ASSIGN_OR_RETURN(const Work work, LeastWork(task, target));
  constexpr double kAtOnce = 0;  // assuming that data is in memory would give a weaker bound
  return RooflineOf(work, kAtOnce, peaks, threads).seconds;
}

absl::Status CheckPeaks(const Peaks& peaks, const Target& target) {
  constexpr double kMostGhz = 8, kOperations = 2;
  // Products of narrow types are at most so many times as fast as those of f32, in a matrix unit.
  constexpr double kMostOfNarrow = 64;
  const double most = kMostGhz * kOperations * target.Lanes(sizeof(float)) * target.fma_per_cycle;
  const double narrow = std::max(peaks.bf16_gflops_per_core, peaks.int8_gops_per_core);
  if (peaks.gflops_per_core > 0 && peaks.gflops_per_core <= most && narrow <= kMostOfNarrow * most)
    return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("the device claims ", peaks.gflops_per_core,
                                          " GFLOP/s for a core; a ", target.name, " has less than ", most));
}

}  // namespace attune

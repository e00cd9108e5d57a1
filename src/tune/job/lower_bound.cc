#include "tune/job/lower_bound.h"

#include <algorithm>

#include "base/status.h"
#include "device/roofline.h"
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

absl::StatusOr<double> LowerBoundSeconds(const TuningTask& task, const Target& target, const Peaks& peaks,
                                         int threads) {
  ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
  double flops = task.flops;
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.why_not(workload, target).empty()) flops = std::min(flops, strategy.least_work * task.flops);
  }
  constexpr double kAtOnce = 0;  // assuming that data is in memory would give a weaker bound
  return RooflineOf({flops, MultiplicandOf(workload), task.bytes, 1}, kAtOnce, peaks, threads).seconds;
}

}  // namespace attune

#include "device/roofline.h"

#include <algorithm>

#include "device/peaks.h"

namespace attune {

std::string_view Name(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kL2:
      return "L2";
    case Bound::kL3:
      return "L3";
    case Bound::kMemory:
      return "memory";
  }
  return "";
}

double PeakOf(const Work& work, const Peaks& peaks, int threads) {
  const double giga = work.multiplicand == Multiplicand::kInt8   ? peaks.int8_gops_per_core
                      : work.multiplicand == Multiplicand::kBF16 ? peaks.bf16_gflops_per_core
                                                                 : peaks.gflops_per_core;
  return giga * 1e9 * threads;
}

Roofline RooflineOf(const Work& work, double seconds, const Peaks& peaks, int threads) {
  const auto seconds_at = [&](double gb_per_s) { return work.bytes / (gb_per_s * 1e9 * threads); };
  const double compute_seconds = work.flops / PeakOf(work, peaks, threads);
  Bound source = Bound::kMemory;
  double read_seconds = seconds_at(peaks.memory_gb_per_s);
  if (read_seconds > seconds) {
    const bool fits = work.bytes / std::max(work.calls, 1.0) <= static_cast<double>(peaks.l2_bytes * threads);
    source = fits ? Bound::kL2 : Bound::kL3;
    read_seconds = seconds_at(fits ? peaks.l2_gb_per_s : peaks.l3_gb_per_s);
  }
  return {read_seconds > compute_seconds ? source : Bound::kCompute, std::max(compute_seconds, read_seconds)};
}

}  // namespace attune

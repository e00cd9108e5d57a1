// Compares the peak that `profile` measures with one that no kernel can have:
//
//   peak_bench
//
// prints what a core reaches in a loop of fused multiply-adds in AVX-512 whose operands stay in registers,
// and what it reaches with operands from L1 (docs/decisions/peaks.md), then the first once more, all as the
// most of eight runs.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "device/host.h"
#include "device/peaks.h"
#include "target/target.h"

namespace attune {
namespace {

constexpr int kSums = 24;

__attribute__((target("avx512f"))) void MultiplyAdd(int64_t rounds) {
  __m512 sums[kSums] = {}, a = _mm512_set1_ps(0.3f), b = _mm512_set1_ps(0.7f);
  asm volatile("" : "+v"(a), "+v"(b));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma clang loop unroll(full)
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(a, b, sum);
  }
  for (__m512& sum : sums) asm volatile("" : : "v"(sum));
}

double GflopsFromRegisters() {
  constexpr int64_t kRounds = 800'000;
  constexpr int kRuns = 8;
  constexpr double kOperations = 2.0 * 16 * kSums * kRounds;
  double most = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto start = std::chrono::steady_clock::now();
    MultiplyAdd(kRounds);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    most = std::max(most, kOperations / seconds.count() * 1e-9);
  }
  return most;
}

int Main() {
  const absl::StatusOr<Target> target = HostTarget();
  if (!target.ok() || target->vector_bits < 512) {
    std::fprintf(stderr, "peak_bench: this processor has no AVX-512\n");
    return 1;
  }
  const double before = GflopsFromRegisters(), peak = MeasurePeaks(1).gflops_per_core;
  std::printf("GFLOP/s with operands from registers %.1f, from L1 %.1f, from registers %.1f\n", before, peak,
              GflopsFromRegisters());
  return 0;
}

}  // namespace
}  // namespace attune

int main() { return attune::Main(); }

// What this machine does at best, as measured.
#ifndef ATTUNE_DEVICE_PEAKS_H_
#define ATTUNE_DEVICE_PEAKS_H_

#include <cstdint>

namespace attune {

// What a core of this machine does at best, measured while some are busy: the clock of the processor, the
// last-level cache and the memory are shared.
struct Peaks {
  // f32 fused multiply-adds, counted as two operations, of operands that come from L1.
  double gflops_per_core = 0;
  // Multiply-adds of bf16 into f32, and of 8 bits into 32, likewise, in tiles where there are any; those of
  // f32 where no instruction for them is faster.
  double bf16_gflops_per_core = 0;
  double int8_gops_per_core = 0;
  // A core reading what lies in its L2, in L3, and far more than they hold.
  double l2_gb_per_s = 0;
  double l3_gb_per_s = 0;
  double memory_gb_per_s = 0;
  int64_t l2_bytes = 0;
};

// With `threads` cores busy, or all where these are fewer. Measures for some tenths of a second when it is
// first asked that, then gives the same answer. Thread safe.
const Peaks& MeasurePeaks(int threads);
// The best of `peaks` and of what another measurement with so many threads gives, one by one: a machine that
// others use is slower for seconds at a time.
Peaks BestPeaks(const Peaks& peaks, int threads);

}  // namespace attune

#endif  // ATTUNE_DEVICE_PEAKS_H_

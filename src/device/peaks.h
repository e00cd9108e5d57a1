// The measured peak rates of this machine.
#ifndef ATTUNE_DEVICE_PEAKS_H_
#define ATTUNE_DEVICE_PEAKS_H_

#include <cstdint>

namespace attune {

// The best rates of one core of this machine, measured while several cores are busy: the processor's clock,
// the last-level cache and the memory are shared.
struct Peaks {
  // f32 fused multiply-adds, counted as two operations, with operands from L1.
  double gflops_per_core = 0;
  // The same for multiply-adds of bf16 into f32, and of 8-bit into 32-bit integers, with tiles if there are
  // any; the f32 rate if no instruction for them is faster.
  double bf16_gflops_per_core = 0;
  double int8_gops_per_core = 0;
  // The read bandwidth of one core for data in its L2, in L3, and for far more data than they hold.
  double l2_gb_per_s = 0;
  double l3_gb_per_s = 0;
  double memory_gb_per_s = 0;
  int64_t l2_bytes = 0;
};

// With `threads` cores busy, or all cores if there are fewer. The first call for a number of threads
// measures for some tenths of a second; later calls return the same result. Thread safe.
const Peaks& MeasurePeaks(int threads);
// Measures again with `threads` threads, and returns the better of both rates, one by one: on a machine that
// others use too, rates are lower for seconds at a time.
Peaks BestPeaks(const Peaks& peaks, int threads);

}  // namespace attune

#endif  // ATTUNE_DEVICE_PEAKS_H_

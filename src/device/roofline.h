// The roofline model: no kernel is faster than its operations at the machine's peak, nor than its bytes at
// the bandwidth of where they are (Williams, Waterman, Patterson: Roofline, 2009).
#ifndef ATTUNE_DEVICE_ROOFLINE_H_
#define ATTUNE_DEVICE_ROOFLINE_H_

#include <string_view>

#include "device/peaks.h"
#include "target/target.h"

namespace attune {

// What limits a kernel: arithmetic, or the bandwidth of what its data comes from.
enum class Bound { kCompute, kL2, kL3, kMemory };
std::string_view Name(Bound bound);  // "compute", "L2", "L3" or "memory"

// What most operations of a kernel multiply and add.
enum class Multiplicand { kF32, kBF16, kInt8 };

struct Work {
  double flops = 0;  // in all calls together
  Multiplicand multiplicand = Multiplicand::kF32;
  double bytes = 0;  // likewise, the least that must be moved
  double calls = 1;
};

struct Roofline {
  Bound bound = Bound::kCompute;  // which of the two limits it
  double seconds = 0;             // the larger of the two
};

// The operations that `threads` cores do a second at best.
double PeakOf(const Work& work, const Peaks& peaks, int threads);

// What `work` takes at the least on `threads` cores. Its data comes from memory, unless it takes `seconds`,
// which is less than memory needs for it: then it is in a cache, the second level if a call's fits there,
// else the third.
Roofline RooflineOf(const Work& work, double seconds, const Peaks& peaks, int threads);

}  // namespace attune

#endif  // ATTUNE_DEVICE_ROOFLINE_H_

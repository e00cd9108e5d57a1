// The roofline model: a kernel needs at least the time of its operations at the machine's peak rate, and of
// its bytes at the bandwidth of the memory level that holds them (Williams, Waterman, Patterson: Roofline,
// 2009).
#ifndef ATTUNE_DEVICE_ROOFLINE_H_
#define ATTUNE_DEVICE_ROOFLINE_H_

#include <string_view>

#include "device/peaks.h"
#include "target/target.h"

namespace attune {

// The limit of a kernel: arithmetic, or the bandwidth of the memory level that its data comes from.
enum class Bound { kCompute, kL2, kL3, kMemory };
std::string_view Name(Bound bound);  // "compute", "L2", "L3" or "memory"

// The type of the numbers that most of a kernel's operations multiply and add.
enum class Multiplicand { kF32, kBF16, kInt8 };

struct Work {
  double flops = 0;  // in all calls together
  Multiplicand multiplicand = Multiplicand::kF32;
  double bytes_read = 0, bytes_written = 0;  // in all calls together, the least that must be moved
  double calls = 1;

  double bytes() const { return bytes_read + bytes_written; }
};

// Bytes of data; L1 and L2 of one core, and L3 of all together.
struct CacheSizes {
  double l1 = 0, l2 = 0, l3 = 0;
};
CacheSizes CachesOf(const Target& target);

struct Roofline {
  Bound bound = Bound::kCompute;  // which of the two bounds applies
  double seconds = 0;             // the larger of the two bounds
};

// Operations per second of `threads` cores at peak.
double PeakOf(const Work& work, const Peaks& peaks, int threads);

// The usual time for `work` on `threads` cores: no bound. Assumes that the data comes from memory, unless
// `seconds`, the time that it actually takes, is too short for that: then it comes from L2 if the data of one
// call fits there, else from L3.
Roofline RooflineOf(const Work& work, double seconds, const Peaks& peaks, int threads);

// The least time: each level of the memory delivers only what the caches before it cannot have kept from
// earlier, and what is read and what is written may pass each other. It is a bound if no rate is higher than
// its peak.
Roofline BoundOf(const Work& work, const Peaks& peaks, const CacheSizes& caches, int threads);

// The peaks, each at least the rate that doing `work` in `seconds` takes: what was attained is possible,
// whatever was measured beside other programs. BoundOf() is then at most `seconds`, which is positive.
Peaks AttainedPeaks(Peaks peaks, const Work& work, double seconds, const CacheSizes& caches, int threads);

}  // namespace attune

#endif  // ATTUNE_DEVICE_ROOFLINE_H_

// The rates and the caches of a processor that there is not, in round figures.
#ifndef ATTUNE_DEVICE_PEAKS_FOR_TEST_H_
#define ATTUNE_DEVICE_PEAKS_FOR_TEST_H_

#include "device/peaks.h"
#include "device/roofline.h"

namespace attune {

inline constexpr Peaks kPeaksOfTest = {.gflops_per_core = 100,
                                       .bf16_gflops_per_core = 100,
                                       .int8_gops_per_core = 400,
                                       .l2_gb_per_s = 100,
                                       .l3_gb_per_s = 50,
                                       .memory_gb_per_s = 10,
                                       .l2_bytes = 1 << 20};
inline constexpr CacheSizes kCachesOfTest = {.l1 = 32 << 10, .l2 = 1 << 20, .l3 = 32 << 20};

}  // namespace attune

#endif  // ATTUNE_DEVICE_PEAKS_FOR_TEST_H_

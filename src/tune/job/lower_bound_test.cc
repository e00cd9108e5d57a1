#include "tune/job/lower_bound.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(LowerBoundTest, PeaksThatNoProcessorHasAreRefused) {
  const Target target = *TargetByName("znver3");  // 8 lanes, 2 multiply-adds a cycle
  EXPECT_TRUE(
      CheckPeaks({.gflops_per_core = 150, .bf16_gflops_per_core = 150, .int8_gops_per_core = 600}, target)
          .ok());
  for (const Peaks& peaks : {Peaks{}, Peaks{.gflops_per_core = -1}, Peaks{.gflops_per_core = 1e4},
                             Peaks{.gflops_per_core = 150, .int8_gops_per_core = 1e6}})
    EXPECT_TRUE(absl::IsDataLoss(CheckPeaks(peaks, target))) << peaks.gflops_per_core;
}

}  // namespace
}  // namespace attune

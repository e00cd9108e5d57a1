#include "service/agreement/device_rates.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(DeviceRatesTest, ExpectedOnesAreBelowTheHighest) {
  for (const char* name : {"x86-64-v3", "znver3", "icelake-server"}) {
    const auto target = TargetByName(name);
    ASSERT_TRUE(target.ok()) << target.status();
    const Peaks expected = ExpectedPeaks(*target), highest = HighestPeaks(*target);
    for (double Peaks::* rate :
         {&Peaks::gflops_per_core, &Peaks::bf16_gflops_per_core, &Peaks::int8_gops_per_core,
          &Peaks::l2_gb_per_s, &Peaks::l3_gb_per_s, &Peaks::memory_gb_per_s}) {
      EXPECT_GT(expected.*rate, 0) << name;
      EXPECT_LT(expected.*rate, highest.*rate) << name;
    }
    EXPECT_EQ(expected.l2_bytes, target->l2_bytes);
  }
}

TEST(DeviceRatesTest, DotProductsMultiplyMoreIntegers) {
  const Peaks plain = ExpectedPeaks(*TargetByName("x86-64-v3"));
  const Peaks vnni = ExpectedPeaks(*TargetByName("icelake-server"));
  EXPECT_EQ(plain.int8_gops_per_core, 2 * plain.gflops_per_core);
  EXPECT_EQ(vnni.int8_gops_per_core, 4 * vnni.gflops_per_core);
}

TEST(DeviceRatesTest, MeasuredOnesMayHaveBeenDisturbed) {
  const Peaks peaks = WithMargin({.gflops_per_core = 100, .memory_gb_per_s = 10, .l2_bytes = 1 << 20});
  EXPECT_DOUBLE_EQ(peaks.gflops_per_core, 120);
  EXPECT_DOUBLE_EQ(peaks.memory_gb_per_s, 12);
  EXPECT_EQ(peaks.l2_bytes, 1 << 20);
}

}  // namespace
}  // namespace attune

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/processors.h"
#include "base/testing/no_threads.h"
#include "device/host.h"
#include "device/host_cpu_for_test.h"
#include "device/peaks.h"
#include "device/roofline.h"
#include "device/tile_permission.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Peaks of 100 operations per second for f32, 200 for bf16 and 400 for integers.
constexpr Peaks kPeaks = {.gflops_per_core = 100e-9,
                          .bf16_gflops_per_core = 200e-9,
                          .int8_gops_per_core = 400e-9,
                          .l2_gb_per_s = 1,
                          .l3_gb_per_s = 1,
                          .memory_gb_per_s = 1,
                          .l2_bytes = 1 << 20};
TEST(HostTarget, IsANamedTargetAndStable) {
  const auto target = HostTarget();
  if (!target.ok()) GTEST_SKIP() << target.status();
  EXPECT_TRUE(TargetByName(target->name).ok());
  EXPECT_GE(target->cores, 1);
  EXPECT_THAT(DeviceFingerprint(), HasSubstr("/" + target->name + "/l1-"));
  EXPECT_EQ(DeviceFingerprint(), DeviceFingerprint());
  EXPECT_THAT(target->modelled_features, IsEmpty());
  if (target->Has("amx_tile")) EXPECT_TRUE(MayUseTiles());
}

// Each name selects that processor or gives one clear error, and the first names run wherever anything
// runs.
TEST(HostTarget, IsTheOneThatTheEnvironmentNames) {
  ScopedHostCpu none(nullptr);
  const auto own = HostTarget();
  if (!own.ok()) GTEST_SKIP() << own.status();
  const std::string own_device = DeviceFingerprint();
  for (const std::string& name : TargetNames()) {
    ScopedHostCpu chosen(name.c_str());
    const auto target = HostTarget();
    const FeatureSet needed = FeaturesOf(name), certain = FeaturesOf(own->name);
    if (!target.ok()) {
      EXPECT_FALSE(HasAll(certain, needed)) << name;
      EXPECT_THAT(std::string(target.status().message()), HasSubstr("ATTUNE_HOST_CPU=" + name)) << name;
      continue;
    }
    // No named processor has both AVX-512 and AVX-VNNI, although some real processors with AVX-512 also
    // have AVX-VNNI.
    EXPECT_TRUE(HasAll(certain | kAvxVnniInt8, needed)) << name;
    EXPECT_EQ(target->name, name);
    EXPECT_EQ(target->required_features, TargetByName(name)->required_features);
    EXPECT_EQ(target->l2_bytes, own->l2_bytes);
    EXPECT_EQ(target->cores, own->cores);
    EXPECT_EQ(DeviceFingerprint() == own_device, name == own->name);
  }
  {
    ScopedHostCpu chosen("pentium");
    EXPECT_THAT(std::string(HostTarget().status().message()), HasSubstr("ATTUNE_HOST_CPU: no processor"));
  }
  ScopedHostCpu empty("");
  EXPECT_EQ(HostTarget()->name, own->name);
}

// Must run before the other tests, since measured peaks are kept.
TEST(MeasurePeaks, NeedsFewerThreadsWhereTheSystemHasNoMore) {
  const testing::NoThreads none;
  EXPECT_GT(MeasurePeaks(Processors()).gflops_per_core, 0);
}

TEST(MeasurePeaks, IsPlausibleAndCached) {
  if (!HostTarget().ok()) GTEST_SKIP();
  for (const int threads : {1, 2}) {
    const Peaks& peaks = MeasurePeaks(threads);
    EXPECT_GT(peaks.gflops_per_core, 1);
    EXPECT_LT(peaks.gflops_per_core, 2000);
    for (double narrow : {peaks.bf16_gflops_per_core, peaks.int8_gops_per_core}) {
      EXPECT_GT(narrow, peaks.gflops_per_core / 2);
      EXPECT_LT(narrow, 20000);
    }
    for (double gb_per_s : {peaks.l2_gb_per_s, peaks.l3_gb_per_s, peaks.memory_gb_per_s})
      EXPECT_GT(gb_per_s, 0.5);
    EXPECT_EQ(&peaks, &MeasurePeaks(threads));
  }
  EXPECT_EQ(&MeasurePeaks(1 << 20), &MeasurePeaks(Processors()));
}

TEST(MeasurePeaks, AnotherMeasurementTakesNothingAway) {
  if (!HostTarget().ok()) GTEST_SKIP();
  Peaks fast = MeasurePeaks(1);
  fast.gflops_per_core *= 10;
  fast.l3_gb_per_s /= 10;
  const Peaks best = BestPeaks(fast, 1);
  EXPECT_EQ(best.gflops_per_core, fast.gflops_per_core);
  EXPECT_GT(best.l3_gb_per_s, fast.l3_gb_per_s);
  EXPECT_EQ(best.l2_bytes, fast.l2_bytes);
}

TEST(MeasurePeaks, TilesAreFasterThanVectors) {
  const auto target = HostTarget();
  if (!target.ok() || !target->Has("amx_tile")) GTEST_SKIP() << "this processor has no tiles";
  const Peaks& peaks = MeasurePeaks(1);
  EXPECT_GT(peaks.bf16_gflops_per_core, 3 * peaks.gflops_per_core);
  EXPECT_GT(peaks.int8_gops_per_core, 1.5 * peaks.bf16_gflops_per_core);
}

TEST(Roofline, EachKindOfProductHasItsPeak) {
  for (const auto& [multiplicand, seconds] :
       {std::pair(Multiplicand::kF32, 8.0), {Multiplicand::kBF16, 4.0}, {Multiplicand::kInt8, 2.0}}) {
    const Work work = {.flops = 1600, .multiplicand = multiplicand, .bytes = 1};
    const Roofline roofline = RooflineOf(work, 100, kPeaks, 2);
    EXPECT_EQ(roofline.bound, Bound::kCompute);
    EXPECT_DOUBLE_EQ(roofline.seconds, seconds);
  }
}

}  // namespace
}  // namespace attune

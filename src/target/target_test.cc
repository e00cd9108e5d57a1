#include "target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/processors.h"
#include "base/testing/no_threads.h"
#include "target/host_cpu_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(TargetByName, KnowsEveryListedName) {
  for (const std::string& name : TargetNames()) {
    const auto target = TargetByName(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->name, name);
    EXPECT_TRUE(target->Has("fma"));
    EXPECT_EQ(target->vector_bits == 512, target->Has("avx512f"));
    EXPECT_LT(target->l1_bytes, target->l2_bytes);
    EXPECT_LT(target->l2_bytes, target->l3_bytes);
  }
}

TEST(TargetByName, UnknownNameListsTheKnownOnes) {
  const auto target = TargetByName("pentium");
  ASSERT_FALSE(target.ok());
  EXPECT_THAT(std::string(target.status().message()), HasSubstr("'pentium'"));
  EXPECT_THAT(std::string(target.status().message()), HasSubstr("znver4"));
}

TEST(TargetByName, ARowsBandwidthsArrive) {
  const Target usual, xeon = *TargetByName("sapphirerapids");
  EXPECT_GT(xeon.l2_bytes_per_cycle, usual.l2_bytes_per_cycle);
  EXPECT_LT(xeon.l3_bytes_per_cycle, usual.l3_bytes_per_cycle);
  EXPECT_LT(xeon.dram_bytes_per_cycle, usual.dram_bytes_per_cycle);
}

TEST(TargetByName, LanesAndPeakFollowTheVectorWidth) {
  const Target v3 = *TargetByName("x86-64-v3");
  EXPECT_EQ(v3.Lanes(4), 8);
  EXPECT_EQ(v3.num_vector_registers, 16);
  const Target zen4 = *TargetByName("znver4");
  EXPECT_EQ(zen4.Lanes(1), 64);
  EXPECT_NEAR(zen4.PeakGflopsPerCore(), 115.2, 1e-9);
}

TEST(HostTarget, IsANamedTargetAndStable) {
  const auto target = HostTarget();
  if (!target.ok()) GTEST_SKIP() << target.status();
  EXPECT_TRUE(TargetByName(target->name).ok());
  EXPECT_GE(target->cores, 1);
  EXPECT_THAT(DeviceFingerprint(), HasSubstr("/" + target->name + "/l1-"));
  EXPECT_EQ(DeviceFingerprint(), DeviceFingerprint());
}

// Each name gives that processor or one clear error, and the first names run wherever anything does.
TEST(HostTarget, IsTheOneThatTheEnvironmentNames) {
  ScopedHostCpu none(nullptr);
  const auto own = HostTarget();
  if (!own.ok()) GTEST_SKIP() << own.status();
  const std::string own_device = DeviceFingerprint();
  for (const std::string& name : TargetNames()) {
    ScopedHostCpu chosen(name.c_str());
    const auto target = HostTarget();
    if (LevelOf(name) > LevelOf(own->name)) {
      EXPECT_THAT(std::string(target.status().message()), HasSubstr("ATTUNE_HOST_CPU=" + name)) << name;
      continue;
    }
    ASSERT_TRUE(target.ok()) << target.status();
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

// Before others, since what was measured is kept.
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
    for (double gb_per_s : {peaks.l2_gb_per_s, peaks.l3_gb_per_s, peaks.memory_gb_per_s})
      EXPECT_GT(gb_per_s, 0.5);
    EXPECT_EQ(&peaks, &MeasurePeaks(threads));
  }
  EXPECT_EQ(&MeasurePeaks(1 << 20), &MeasurePeaks(Processors()));
}

}  // namespace
}  // namespace attune

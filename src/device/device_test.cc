#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

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

// Nothing is asked of the rates themselves: another program may have the processor for as long as one of
// them is measured.
TEST(MeasurePeaks, EachRateIsMeasuredOnceAndCached) {
  if (!HostTarget().ok()) GTEST_SKIP();
  for (const int threads : {1, 2}) {
    const Peaks& peaks = MeasurePeaks(threads);
    for (double rate : {peaks.gflops_per_core, peaks.bf16_gflops_per_core, peaks.int8_gops_per_core,
                        peaks.l2_gb_per_s, peaks.l3_gb_per_s, peaks.memory_gb_per_s})
      EXPECT_GT(rate, 0);
    EXPECT_EQ(&peaks, &MeasurePeaks(threads));
  }
  EXPECT_EQ(&MeasurePeaks(1 << 20), &MeasurePeaks(Processors()));
}

TEST(MeasurePeaks, AnotherMeasurementTakesNothingAway) {
  if (!HostTarget().ok()) GTEST_SKIP();
  Peaks fast = MeasurePeaks(1);
  fast.gflops_per_core = 1e9;
  fast.l3_gb_per_s = 1e-9;
  const Peaks best = BestPeaks(fast, 1);
  EXPECT_EQ(best.gflops_per_core, fast.gflops_per_core);
  EXPECT_GT(best.l3_gb_per_s, fast.l3_gb_per_s);
  EXPECT_EQ(best.l2_bytes, fast.l2_bytes);
}

TEST(Roofline, EachKindOfProductHasItsPeak) {
  for (const auto& [multiplicand, seconds] :
       {std::pair(Multiplicand::kF32, 8.0), {Multiplicand::kBF16, 4.0}, {Multiplicand::kInt8, 2.0}}) {
    const Work work = {.flops = 1600, .multiplicand = multiplicand, .bytes_read = 1};
    const Roofline roofline = RooflineOf(work, 100, kPeaks, 2);
    EXPECT_EQ(roofline.bound, Bound::kCompute);
    EXPECT_DOUBLE_EQ(roofline.seconds, seconds);
  }
}

TEST(Roofline, ALevelDeliversWhatTheCachesBeforeItCannotHaveKept) {
  const Peaks peaks = {.gflops_per_core = 100,
                       .bf16_gflops_per_core = 200,
                       .int8_gops_per_core = 400,
                       .l2_gb_per_s = 100,
                       .l3_gb_per_s = 50,
                       .memory_gb_per_s = 10};
  const CacheSizes caches = {.l1 = 1e3, .l2 = 1e4, .l3 = 1e5};
  const auto bound = [&](double read, double written, int threads = 1, double calls = 1) {
    return BoundOf({.bytes_read = read, .bytes_written = written, .calls = calls}, peaks, caches, threads);
  };
  EXPECT_EQ(bound(1e3, 1e3).seconds, 0);
  EXPECT_DOUBLE_EQ(bound(3e3, 1e3).seconds, 2e3 / 100e9);
  EXPECT_EQ(bound(3e3, 1e3).bound, Bound::kL2);
  // Reads and writes may pass each other.
  EXPECT_EQ(bound(3e3, 3e3).seconds, bound(3e3, 0).seconds);
  EXPECT_EQ(bound(1e5, 0).bound, Bound::kL3);
  EXPECT_DOUBLE_EQ(bound(1e6, 0).seconds, (1e6 - 1.11e5) / 10e9);
  EXPECT_EQ(bound(1e6, 0).bound, Bound::kMemory);
  // Each call, and each thread, finds its L1 full.
  EXPECT_EQ(bound(2e3, 0, 2).seconds, 0);
  EXPECT_EQ(bound(5e3, 0, 1, 5).seconds, 0);
}

// Whatever was measured, and however fast a kernel was: the bound by the peaks that it shows is no longer
// than it took, and higher peaks never give a longer one.
TEST(Roofline, WhatWasAttainedIsPossible) {
  std::mt19937_64 random(1);
  const auto draw = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random));
  };
  for (int i = 0; i < 2000; ++i) {
    const Peaks measured = {.gflops_per_core = draw(1, 1e3),
                            .bf16_gflops_per_core = draw(1, 1e3),
                            .int8_gops_per_core = draw(1, 1e3),
                            .l2_gb_per_s = draw(1, 1e3),
                            .l3_gb_per_s = draw(1, 1e3),
                            .memory_gb_per_s = draw(1, 1e3)};
    const CacheSizes caches = {.l1 = draw(1e3, 1e5), .l2 = draw(1e5, 1e7), .l3 = draw(1e6, 1e9)};
    const Work work = {.flops = draw(1, 1e12),
                       .multiplicand = static_cast<Multiplicand>(i % 3),
                       .bytes_read = draw(1, 1e9),
                       .bytes_written = draw(1, 1e9),
                       .calls = std::floor(draw(1, 100))};
    const int threads = 1 + i % 4;
    const double seconds = draw(1e-9, 1);
    const Peaks attained = AttainedPeaks(measured, work, seconds, caches, threads);
    const double bound = BoundOf(work, attained, caches, threads).seconds;
    EXPECT_LE(bound, seconds * (1 + 1e-12));
    EXPECT_LE(bound, BoundOf(work, measured, caches, threads).seconds);
    if (BoundOf(work, measured, caches, threads).seconds <= seconds)
      EXPECT_EQ(bound, BoundOf(work, measured, caches, threads).seconds);
  }
}

}  // namespace
}  // namespace attune

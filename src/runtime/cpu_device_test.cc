#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/host.h"
#include "device/host_cpu_for_test.h"
#include "runtime/cpu_features.h"
#include "runtime/device.h"
#include "target/target.h"

namespace attune {
namespace {

TEST(DeviceTest, MemoryIsAlignedAndZero) {
  for (const uint64_t bytes : {0, 1, 64, 1000, 5 << 20}) {
    const DeviceMemory memory = CpuDevice().Allocate(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kTensorAlignment, 0u);
    for (uint64_t i = 0; i < bytes; i += 63) ASSERT_EQ(memory.get()[i], std::byte{0});
  }
  EXPECT_EQ(CpuDevice().Allocate(uint64_t{1} << 50), nullptr);
}

// Must hold on every machine, whatever its processor.
TEST(DeviceTest, RefusesCodeForMoreThanTheEnvironmentNames) {
  ScopedHostCpu chosen("x86-64-v3");
  const auto check = [](const char* name) {
    return CpuDevice().CheckTarget({std::string(HostArch()), name, TargetByName(name)->required_features});
  };
  for (const char* name : {"x86-64-v4", "cascadelake", "znver4", "sapphirerapids"}) {
    const RuntimeStatus status = check(name);
    EXPECT_EQ(status.code, ATTUNE_WRONG_TARGET);
    EXPECT_THAT(status.message, ::testing::HasSubstr("which this one lacks as ATTUNE_HOST_CPU=x86-64-v3"));
  }
  ScopedHostCpu none(nullptr);
  const bool runs = HostTarget().ok();
  ScopedHostCpu again("x86-64-v3");
  EXPECT_EQ(check("haswell").ok(), runs);
}

}  // namespace
}  // namespace attune

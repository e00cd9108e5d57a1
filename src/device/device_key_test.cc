#include "device/device_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(DeviceKey, CpuIsThisMachine) {
  for (const char* key : {"cpu", "CPU", "cpu:0"}) {
    EXPECT_TRUE(IsThisMachine(key)) << key;
    EXPECT_TRUE(CheckDeviceKey(key).ok()) << key;
  }
  for (const char* key : {"", "desk", "cpu-amd-epyc", "amd-epyc-9b14-1f2e"})
    EXPECT_FALSE(IsThisMachine(key)) << key;
}

TEST(DeviceKey, OtherHardwareIsRefusedWithTheWayOut) {
  for (const char* key : {"cuda", "cuda:1", "GPU", "gpu.0", "mps", "xpu"}) {
    const absl::Status status = CheckDeviceKey(key);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << key;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(key), HasSubstr("x86-64"), HasSubstr("give cpu")));
  }
  for (const char* key : {"", "desk", "gpu-server", "cuda-box-1f2e"})
    EXPECT_TRUE(CheckDeviceKey(key).ok()) << key;
}

}  // namespace
}  // namespace attune

#include <gtest/gtest.h>

#include "runtime/device.h"

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

}  // namespace
}  // namespace attune

#include "measure/network_outputs.h"

#include <gtest/gtest.h>

#include <cstring>

namespace attune {
namespace {

// Memory with these numbers.
std::vector<std::byte> Numbers(const std::vector<uint64_t>& numbers) {
  std::vector<std::byte> memory(numbers.size() * sizeof(uint64_t));
  std::memcpy(memory.data(), numbers.data(), memory.size());
  return memory;
}

TEST(NetworkOutputsTest, AreRead) {
  const auto outputs = ReadOutputs(Numbers({2, 1, 3, 8, 7, 0, 8, 9}));
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  ASSERT_EQ(outputs->size(), 2);
  EXPECT_EQ((*outputs)[0].shape, (std::vector<int64_t>{3}));
  EXPECT_EQ((*outputs)[0].bytes, std::string("\7\0\0\0\0\0\0\0", 8));
  EXPECT_TRUE((*outputs)[1].shape.empty());
}

TEST(NetworkOutputsTest, DamagedOnesAreRefused) {
  for (const std::vector<uint64_t>& numbers : std::vector<std::vector<uint64_t>>{
           {}, {1}, {1, 1}, {1, 0, 100}, {1, 0, UINT64_MAX}, {1, UINT64_MAX - 1}, {1U << 20}}) {
    EXPECT_TRUE(absl::IsDataLoss(ReadOutputs(Numbers(numbers)).status())) << numbers.size();
  }
  EXPECT_TRUE(absl::IsResourceExhausted(ReadOutputs(Numbers({UINT64_MAX})).status()));
}

}  // namespace
}  // namespace attune

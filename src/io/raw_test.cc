#include "io/raw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Raw, ReadsElements) {
  const auto tensor = ParseRaw(std::string_view("\1\0\2\0\3\0\xFF\xFF", 8), DType::kI16, {2, 2}, "a.bin");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->shape(), ::testing::ElementsAre(2, 2));
  EXPECT_THAT(tensor->ToInts(), ::testing::ElementsAre(1, 2, 3, -1));
  const auto flags = ParseRaw(std::string_view("\0\2", 2), DType::kBool, {2}, "a.bin");
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_THAT(flags->as<uint8_t>(), ::testing::ElementsAre(0, 1));
}

TEST(Raw, NamesBothSizes) {
  EXPECT_EQ(ParseRaw("12345", DType::kF32, {1, 3}, "a.bin").status().message(),
            "a.bin: has 5 bytes, but f32 [1,3] takes 12");
  EXPECT_EQ(ParseRaw("", DType::kF32, {int64_t{1} << 62, 4}, "a.bin").status().message(),
            "a.bin: has 0 bytes, but f32 [4611686018427387904,4] takes too many");
  EXPECT_FALSE(ParseRaw("", DType::kF32, {-1}, "a.bin").ok());
  EXPECT_TRUE(ParseRaw("", DType::kF32, {0, 3}, "a.bin").ok());
}

}  // namespace
}  // namespace attune

#include "base/joined.h"

#include <gtest/gtest.h>

#include <limits>

namespace attune {
namespace {

TEST(JoinedTest, TextsAndIntegers) {
  const std::string text = "dimension";
  EXPECT_EQ(Joined({text, " ", size_t{3}, " is ", int32_t{-5}, ""}), "dimension 3 is -5");
  EXPECT_EQ(Joined({uint8_t{65}, std::string(), 0}), "650");
  EXPECT_EQ(Joined({}), "");
}

TEST(JoinedTest, TheLargestAndTheSmallest) {
  EXPECT_EQ(Joined({std::numeric_limits<int64_t>::min()}), "-9223372036854775808");
  EXPECT_EQ(Joined({std::numeric_limits<int64_t>::max()}), "9223372036854775807");
  EXPECT_EQ(Joined({std::numeric_limits<uint64_t>::max()}), "18446744073709551615");
}

}  // namespace
}  // namespace attune

#include "base/exact_number.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "gtest/gtest.h"

namespace attune {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
constexpr uint64_t kUnsignedMax = std::numeric_limits<uint64_t>::max();

TEST(ExactNumber, KeepsEveryInteger) {
  for (const int64_t value : {int64_t{0}, int64_t{-1}, (int64_t{1} << 53) + 1, kMin, kMax}) {
    EXPECT_TRUE(ExactNumber(value).is_integer());
    EXPECT_EQ(ExactNumber(value).To<int64_t>(), value);
  }
  for (const uint64_t value : {uint64_t{1} << 63, kUnsignedMax}) {
    EXPECT_EQ(ExactNumber(value).To<uint64_t>(), value);
    EXPECT_EQ(ExactNumber(value).To<int64_t>(), kMax);
  }
}

TEST(ExactNumber, IsOneRepresentationForEqualNumbers) {
  EXPECT_EQ(ExactNumber(3.0), ExactNumber(3));
  EXPECT_EQ(ExactNumber(0x1p63), ExactNumber(uint64_t{1} << 63));
  EXPECT_EQ(ExactNumber(-0x1p63), ExactNumber(kMin));
  EXPECT_FALSE(ExactNumber((int64_t{1} << 53) + 1) == ExactNumber(0x1p53));
  EXPECT_FALSE(ExactNumber(0x1p64).is_integer());
  EXPECT_FALSE(ExactNumber(0.5).is_integer());
}

TEST(ExactNumber, KeepsNegativeZeroAndNan) {
  EXPECT_TRUE(std::signbit(ExactNumber(-0.0).ToDouble()));
  EXPECT_EQ(ExactNumber(-0.0), ExactNumber(0));
  const ExactNumber nan(std::nan(""));
  EXPECT_TRUE(std::isnan(nan.ToDouble()));
  EXPECT_FALSE(nan == nan);
}

TEST(ExactNumber, IsOrdered) {
  const ExactNumber ascending[] = {-1e30,
                                   kMin,
                                   kMin + 1,
                                   -0.5,
                                   0,
                                   0.5,
                                   (int64_t{1} << 53),
                                   (int64_t{1} << 53) + 1,
                                   kMax,
                                   uint64_t{1} << 63,
                                   kUnsignedMax,
                                   0x1p64,
                                   1e30};
  for (size_t i = 1; i < std::size(ascending); ++i) EXPECT_LT(ascending[i - 1], ascending[i]) << i;
}

TEST(ExactNumber, SaturatesAndTruncates) {
  EXPECT_EQ(ExactNumber(-2.9).To<int64_t>(), -2);
  EXPECT_EQ(ExactNumber(-2.9).To<uint64_t>(), 0u);
  EXPECT_EQ(ExactNumber(300).To<uint8_t>(), 255);
  EXPECT_EQ(ExactNumber(1e30).To<uint64_t>(), kUnsignedMax);
  EXPECT_EQ(ExactNumber(-1e30).To<int64_t>(), kMin);
  EXPECT_EQ(ExactNumber(std::nan("")).To<int32_t>(), 0);
}

TEST(ExactNumber, RoundsToIntegers) {
  EXPECT_EQ(ExactNumber(2.5).Ceil(), ExactNumber(3));
  EXPECT_EQ(ExactNumber(-2.5).Floor(), ExactNumber(-3));
  EXPECT_EQ(ExactNumber(kMax).Ceil(), ExactNumber(kMax));
}

}  // namespace
}  // namespace attune

#include "sizes/fit.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace attune {
namespace {

const std::vector<OpenDim> kDims = {{.name = "b", .min = 1, .max = 1 << 20, .likely = 2},
                                    {.name = "s", .min = 1, .max = 1 << 20, .likely = 64},
                                    {.name = "p", .min = 1, .max = 1 << 20, .likely = 64}};

// Returns the expression for a number that the function gives at each point; "nothing" if there is none.
std::string Found(const std::function<int64_t(int64_t b, int64_t s, int64_t p)>& number) {
  const std::vector<SizePoint> points = *PointsFor(kDims);
  std::vector<int64_t> values;
  for (const SizePoint& point : points) values.push_back(number(point[0], point[1], point[2]));
  const std::optional<SizeExpr> size = FitSize(values, points);
  return size.has_value() ? ToString(*size, kDims) : "nothing";
}

TEST(FitSize, FindsTheSizesOfNetworks) {
  EXPECT_EQ(Found([](int64_t, int64_t, int64_t) { return 384; }), "384");
  EXPECT_EQ(Found([](int64_t b, int64_t, int64_t) { return b; }), "b");
  EXPECT_EQ(Found([](int64_t b, int64_t s, int64_t) { return b * s * 12; }), "12·b·s");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return 511 - s; }), "-s + 511");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t p) { return s + p; }), "s + p");
  EXPECT_EQ(Found([](int64_t b, int64_t s, int64_t p) { return b * (s + p) * 3; }), "3·b·s + 3·b·p");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return s * s - 1; }), "s·s - 1");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return (s + 1) / 2; }), "floor((s + 1) / 2)");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return s / 2; }), "floor(s / 2)");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return (s - 3) / 4 + 1; }), "floor((s + 1) / 4)");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return (s + 7) / 8; }), "floor((s + 7) / 8)");
  EXPECT_EQ(Found([](int64_t, int64_t s, int64_t) { return (s + 15) / 16 * 3; }), "3·floor((s + 15) / 16)");
}

TEST(FitSize, FindsNothingForOtherNumbers) {
  int64_t state = 7;
  EXPECT_EQ(Found([&](int64_t, int64_t, int64_t) { return state = state * 1103515245 % 10007; }), "nothing");
}

TEST(PointsFor, NoTwoNumbersAreEqual) {
  const auto points = PointsFor(kDims);
  ASSERT_TRUE(points.has_value());
  ASSERT_EQ(points->size(), kLeastPoints);
  std::set<int64_t> seen;
  for (const SizePoint& point : *points) {
    ASSERT_EQ(point.size(), kDims.size());
    for (const int64_t number : point) EXPECT_TRUE(number > 1 && seen.insert(number).second) << number;
  }
}

TEST(PointsFor, ThereAreNoneForADimensionOfTooFewSizes) {
  const std::vector<OpenDim> few = {{.name = "b", .min = 1, .max = 4, .likely = 2}};
  EXPECT_FALSE(PointsFor(few).has_value());
}

}  // namespace
}  // namespace attune

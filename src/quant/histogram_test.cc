#include "quant/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"

namespace attune::quant {
namespace {

TEST(Histogram, WidthIsThePowerOfTwoThatReachesTheLargest) {
  Histogram histogram;
  histogram.Add(std::vector<float>{0.0f, 1.5f, -0.25f});
  EXPECT_EQ(histogram.width(), 2.0 / Histogram::kBins);
  EXPECT_EQ(histogram.min(), -0.25);
  EXPECT_EQ(histogram.max(), 1.5);
  EXPECT_EQ(histogram.zeros(), 1);
  EXPECT_EQ(histogram.total(), 3);
}

TEST(Histogram, GrowingMergesNeighbours) {
  Histogram histogram;
  // The width is first 1/2048, then 1/512; the numbers are on both sides of zero.
  histogram.Add(std::vector<float>{0.5f / 2048, 1.5f / 2048, 2.5f / 2048, 4.5f / 2048});
  histogram.Add(std::vector<float>{-0.5f / 2048, -4.5f / 2048, 0.75f});
  histogram.Add(std::vector<float>{3.0f});
  EXPECT_EQ(histogram.width(), 1.0 / 512);
  EXPECT_EQ(histogram.counts()[Histogram::kBins], 3);
  EXPECT_EQ(histogram.counts()[Histogram::kBins + 1], 1);
  EXPECT_EQ(histogram.counts()[Histogram::kBins - 1], 1);
  EXPECT_EQ(histogram.counts()[Histogram::kBins - 2], 1);
}

TEST(Histogram, OrderAndPiecesDoNotMatter) {
  Random random(1);
  std::vector<float> values;
  for (int i = 0; i < 10'000; ++i) {
    values.push_back(static_cast<float>(random.Normal() * std::exp2(random.Integer(-10, 10))));
  }
  Histogram whole, backwards, pieces;
  whole.Add(values);
  pieces.Add(std::span(values).subspan(3000));
  pieces.Add(std::span(values).first(3000));
  std::ranges::reverse(values);
  for (float value : values) backwards.Add(std::span(&value, 1));
  for (const Histogram* other : {&backwards, &pieces}) {
    EXPECT_EQ(whole.width(), other->width());
    EXPECT_TRUE(std::ranges::equal(whole.counts(), other->counts()));
    EXPECT_EQ(whole.min(), other->min());
    EXPECT_EQ(whole.max(), other->max());
    EXPECT_EQ(whole.total(), other->total());
  }
}

TEST(Histogram, NumbersThatAreNoneDoNotCount) {
  Histogram histogram;
  const float infinity = std::numeric_limits<float>::infinity();
  histogram.Add(std::vector<float>{infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 2.0f});
  EXPECT_EQ(histogram.total(), 1);
  EXPECT_EQ(histogram.max(), 2);
}

}  // namespace
}  // namespace attune::quant

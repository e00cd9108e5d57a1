#include "quant/ranges.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "quant/parameters.h"

namespace attune::quant {
namespace {

// The numbers 1 to 1000.
Histogram Uniform() {
  Histogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Add(std::vector<float>{static_cast<float>(i)});
  return histogram;
}

// Normally distributed numbers and a few outliers.
Histogram HeavyTailed() {
  Random random(1);
  std::vector<float> values;
  for (int i = 0; i < 200'000; ++i) values.push_back(static_cast<float>(random.Normal()));
  for (int i = 0; i < 20; ++i) values.push_back(100.0f);
  Histogram histogram;
  histogram.Add(values);
  return histogram;
}

TEST(Ranges, MinMaxIsAllThatOccurred) { EXPECT_EQ(MinMaxRange(HeavyTailed()).high, 100); }

TEST(Ranges, PercentileCutsTheShareThatItSays) {
  const Histogram histogram = Uniform();
  EXPECT_NEAR(PercentileRange(histogram, 99).high, 990, 1);
  EXPECT_NEAR(PercentileRange(histogram, 90).high, 900, 1);
  EXPECT_EQ(PercentileRange(histogram, 100).high, 1000);
}

TEST(Ranges, PercentileCutsHalfOfItOnEachSide) {
  Histogram histogram;
  for (int i = -1000; i <= 1000; ++i) histogram.Add(std::vector<float>{static_cast<float>(i)});
  const Range range = PercentileRange(histogram, 98);
  EXPECT_NEAR(range.low, -980, 2);
  EXPECT_NEAR(range.high, 980, 2);
}

TEST(Ranges, EntropyClipsAHeavyTail) {
  const Range range = EntropyRange(HeavyTailed());
  EXPECT_LT(range.high, 20);
  EXPECT_GT(range.high, 2);
  EXPECT_LT(range.low, -2);
}

TEST(Ranges, EntropyKeepsWhatHasFewerBinsThanLevels) {
  Histogram histogram;
  histogram.Add(std::vector<float>{1.0f, 1.0f, 1.01f});
  EXPECT_EQ(EntropyRange(histogram).high, histogram.max());
}

// a (h - l)² + (100 - h)² is least for h = (100 + a l) / (1 + a), where a is n / (12 · 255²).
TEST(Ranges, MeanSquaredErrorClipsARareOutlier) {
  Random random(1);
  constexpr int kCount = 1'000'000;
  std::vector<float> values = {100.0f};
  for (int i = 0; i < kCount; ++i) values.push_back(static_cast<float>(random.Normal()));
  Histogram histogram;
  histogram.Add(values);
  const double a = kCount / (12.0 * 255 * 255);
  EXPECT_NEAR(MseRange(histogram).high, (100 + a * histogram.min()) / (1 + a), 2);
}

TEST(Ranges, MeanSquaredErrorKeepsWhatIsEvenlySpread) {
  EXPECT_GE(MseRange(Uniform()).high, 990);
  EXPECT_EQ(MseRange(Uniform()).low, 0);
}

TEST(Ranges, ChooseKnowsAllMethods) {
  for (const RangeMethod method :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy, RangeMethod::kMse})
    EXPECT_GT(ChooseRange(Uniform(), method, 99).high, 900) << static_cast<int>(method);
}

TEST(Parameters, ZeroIsAnInteger) {
  const ActivationParameters p = ParametersFor({-1, 3});
  EXPECT_EQ(p.zero, 64);
  EXPECT_NEAR(p.scale, 4.0 / 255, 1e-8);
  EXPECT_EQ(ParametersFor({1, 3}).zero, 0);
  EXPECT_EQ(ParametersFor({-3, -1}).zero, 255);
  EXPECT_EQ(ParametersFor({0, 0}).scale, 1);
}

TEST(Parameters, WeightsAreSymmetricInEachChannel) {
  const Tensor weights = Tensor::FromFloats(std::vector<float>{1.5f, -2, 0.5f, 0.2f, 0, 0}, {3, 2});
  const QuantizedWeights rows = QuantizeWeights(weights, 0, {}, 1);
  EXPECT_EQ(rows.integers.ToInts(), (Ints{95, -127, 127, 51, 0, 0}));
  EXPECT_NEAR(rows.scale[0], 2.0 / 127, 1e-8);
  const QuantizedWeights columns = QuantizeWeights(weights, 1, {}, 1);
  EXPECT_EQ(columns.integers.ToInts(), (Ints{127, -127, 42, 13, 0, 0}));
  const Tensor back = Dequantized(rows, 0);
  for (int64_t i = 0; i < back.num_elements(); ++i) {
    EXPECT_NEAR(back.ToDouble(i), weights.ToDouble(i), rows.scale[static_cast<size_t>(i / 2)] / 2 + 1e-7);
  }
}

TEST(Parameters, ALargeBiasCoarsensItsChannel) {
  const Tensor weights = Tensor::FromFloats(std::vector<float>{1e-6f, 1}, {2, 1});
  const std::vector<double> bias = {1e6, 0};
  const QuantizedWeights quantized = QuantizeWeights(weights, 0, bias, 1e-3);
  EXPECT_LE(bias[0] / (quantized.scale[0] * 1e-3), 1 << 30);
  EXPECT_NEAR(quantized.scale[1], 1.0 / 127, 1e-8);
}

}  // namespace
}  // namespace attune::quant

#include "sweep/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sweep/sweep_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

MedianInterval Around(double median) { return {median, 0.9 * median, 1.1 * median, /*is_significant=*/true}; }

// The runs of the file have these medians; 0: not measured.
ComparedSweep Measured(const std::string& yaml, const std::vector<double>& medians) {
  ComparedSweep sweep = {SweepForTest("commands: [tune, bench]\n" + yaml).plan, {}};
  for (const double median : medians)
    sweep.medians.push_back(median > 0 ? std::optional(Around(median)) : std::nullopt);
  return sweep;
}

TEST(ComparisonTest, TheRatioHoldsBothIntervals) {
  const RatioInterval ratio = RatioOfMedians(Around(2), Around(1));
  EXPECT_DOUBLE_EQ(ratio.ratio, 0.5);
  EXPECT_DOUBLE_EQ(ratio.low, 0.9 / 2.2);
  EXPECT_DOUBLE_EQ(ratio.high, 1.1 / 1.8);
  EXPECT_TRUE(ratio.has_confidence);
  EXPECT_FALSE(RatioOfMedians({1, 1, 1, false}, Around(1)).has_confidence);
}

TEST(ComparisonTest, TheMeanIsGeometricAndKnowsHowRatiosScatter) {
  const RatioInterval mean = MeanOfRatios({{.ratio = 0.5}, {.ratio = 2}, {.ratio = 1}});
  EXPECT_NEAR(mean.ratio, 1, 1e-12);
  constexpr double kQuantile = 4.302653;  // of Student's distribution, for 95 % and 2 degrees of freedom
  EXPECT_NEAR(std::log(mean.high), kQuantile * std::log(2) / std::sqrt(3), 1e-6);
  EXPECT_NEAR(mean.low * mean.high, 1, 1e-9);
  EXPECT_EQ(MeanOfRatios({{.ratio = 3, .low = 2, .high = 4}}).high, 4);
}

TEST(ComparisonTest, PairsRunsWithTheSameValues) {
  const ComparedSweep first =
      Measured("options: {model: m, seed: 1}\nproduct: {batch: [8, 16, 32]}", {1, 2, 3});
  const ComparedSweep second = Measured("options: {model: m, seed: 2}\nproduct: {batch: [32, 16]}", {3, 1});
  const auto comparison = CompareSweeps(first, second);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->pairs.size(), 2u);
  EXPECT_EQ(comparison->pairs[0].description, "batch=16");
  EXPECT_DOUBLE_EQ(comparison->pairs[0].ratio.ratio, 0.5);
  EXPECT_DOUBLE_EQ(comparison->pairs[1].ratio.ratio, 1);
  EXPECT_EQ(comparison->num_unpaired, 1u);
  ASSERT_EQ(comparison->differences.size(), 1u);
  EXPECT_EQ(comparison->differences[0].what, "seed");
  EXPECT_EQ(comparison->differences[0].second, "2");
}

TEST(ComparisonTest, AnOptionThatVariesInOneSweepPairsWithTheSameValueInTheOther) {
  const ComparedSweep first =
      Measured("options: {model: m}\nproduct: {batch: [8, ~]}\nrepeat: 2", {1, 2, 3, 4});
  const ComparedSweep fixed = Measured("options: {model: m, batch: 8}\nrepeat: 2", {5, 6});
  const auto with_value = CompareSweeps(first, fixed);
  ASSERT_TRUE(with_value.ok()) << with_value.status();
  ASSERT_EQ(with_value->pairs.size(), 2u);
  EXPECT_EQ(with_value->pairs[1].first, 2u);
  EXPECT_EQ(with_value->pairs[1].second, 1u);
  // It is left out there, too.
  const auto without = CompareSweeps(first, Measured("options: {model: m}", {7}));
  ASSERT_EQ(without->pairs.size(), 1u);
  EXPECT_EQ(without->pairs[0].first, 1u);
}

TEST(ComparisonTest, RepeatsAreNoCombinationsOfTheirOwn) {
  const std::string yaml = "repeat: 2\noptions: {model: m}\nproduct: {batch: [8, 16]}";
  const auto repeated = CompareSweeps(Measured(yaml, {1, 1, 1, 1}), Measured(yaml, {2, 3, 8, 3}));
  ASSERT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(repeated->num_combinations, 2u);
  const RatioInterval once = MeanOfRatios({{.ratio = 4}, {.ratio = 3}});
  EXPECT_NEAR(repeated->mean.ratio, once.ratio, 1e-12);
  EXPECT_NEAR(repeated->mean.high, once.high, 1e-9);

  const std::string single = "repeat: 3\noptions: {model: m}";
  const auto alone = CompareSweeps(Measured(single, {1, 1, 1}), Measured(single, {2, 4, 3}));
  EXPECT_EQ(alone->num_combinations, 1u);
  EXPECT_NEAR(alone->mean.high, MeanOfRatios({{.ratio = 2}, {.ratio = 4}, {.ratio = 3}}).high, 1e-12);
}

TEST(ComparisonTest, RunsWithoutTimesHaveNoPair) {
  const std::string yaml = "options: {model: m}\nproduct: {batch: [8, 16]}";
  const auto comparison = CompareSweeps(Measured(yaml, {0, 1}), Measured(yaml, {1, 1}));
  ASSERT_EQ(comparison->pairs.size(), 1u);
  EXPECT_EQ(comparison->num_unpaired, 2u);
  EXPECT_THAT(CompareSweeps(Measured(yaml, {0, 1}), Measured(yaml, {1, 0})).status().message(),
              HasSubstr("they are paired by batch"));
}

}  // namespace
}  // namespace attune

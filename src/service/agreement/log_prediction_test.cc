#include "service/agreement/log_prediction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace attune {
namespace {

TEST(LogPredictionTest, KnownQuantilesOfStudent) {
  EXPECT_NEAR(StudentCdf(0, 3), 0.5, 1e-12);
  const auto quantile = [](double p, double degrees) {
    return std::log(LogPrediction(0, 1, degrees).Quantile(p));
  };
  EXPECT_NEAR(quantile(0.975, 19), 2.093024, 1e-5);
  EXPECT_NEAR(quantile(0.9, 4), 1.533206, 1e-5);
  EXPECT_NEAR(quantile(0.1, 1), -3.077684, 1e-5);
  EXPECT_NEAR(quantile(0.9, 1e6), 1.281552, 1e-4);
  EXPECT_NEAR(quantile(0.9, std::numeric_limits<double>::infinity()), 1.281552, 1e-5);
  EXPECT_NEAR(LogPrediction(2, 0.3, std::numeric_limits<double>::infinity()).Spread(), 0.3, 1e-6);
}

TEST(LogPredictionTest, QuantilesAndProbabilitiesAgree) {
  const LogPrediction prediction(std::log(5), 0.2, 8);
  EXPECT_NEAR(prediction.Range().median, 5, 1e-9);
  EXPECT_NEAR(prediction.Probability(prediction.Quantile(0.9)), 0.9, 1e-9);
  EXPECT_NEAR(prediction.Times(2).Range().high, 2 * prediction.Range().high, 1e-9);
  EXPECT_GT(prediction.Widened(0.2).Range().high, prediction.Range().high);
  EXPECT_EQ(prediction.Probability(0), 0);
}

TEST(PredictNextTest, WithoutEvidenceThePriorCounts) {
  const LogPrior prior = {.mean = 0.5, .spread = 0.4};
  const PromiseRange range = PredictNext(2, prior, {}, {}).Range();
  EXPECT_NEAR(range.median, 2 * std::exp(0.5), 1e-9);
  EXPECT_GT(range.high / range.median, std::exp(1.2816 * 0.4));
}

TEST(PredictNextTest, IntervalsNarrowWithEvidenceAndHoldTheirShare) {
  const LogPrior prior = {.mean = 0.5, .spread = 0.5};
  std::mt19937_64 random(3);
  std::normal_distribution<double> log_ratio(0.1, 0.1);
  constexpr int kTrials = 1000, kSeen = 20;
  int held = 0;
  double width = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> seen(kSeen), weights(kSeen, 1.0);
    for (double& one : seen) one = log_ratio(random);
    const PromiseRange range = PredictNext(3, prior, seen, weights).Range();
    const double next = 3 * std::exp(log_ratio(random));
    held += range.low <= next && next <= range.high ? 1 : 0;
    width += std::log(range.high / range.low) / kTrials;
  }
  EXPECT_GT(held, 0.75 * kTrials);
  EXPECT_LT(held, 0.93 * kTrials);
  const PromiseRange before = PredictNext(3, prior, {}, {}).Range();
  EXPECT_LT(width, 0.5 * std::log(before.high / before.low));
}

TEST(PredictNextTest, AnOutlierAmongManyChangesLittle) {
  const LogPrior prior = {.mean = 0, .spread = 0.5};
  std::vector<double> seen, weights(40, 1.0);
  for (int i = 0; i < 40; ++i) seen.push_back(0.005 * (i - 20));
  const PromiseRange before = PredictNext(1, prior, seen, weights).Range();
  seen.back() = 2;
  const PromiseRange with_it = PredictNext(1, prior, seen, weights).Range();
  EXPECT_LT(std::log(with_it.high / with_it.low), 1.7 * std::log(before.high / before.low));
}

TEST(PredictNextTest, WrongEstimatesWidenTheInterval) {
  const LogPrior prior = {.mean = 0, .spread = 0.05};
  const std::vector<double> close = {0.01, -0.02, 0.02}, far = {0.9, -0.8, 0.1}, weights = {1, 1, 1};
  EXPECT_GT(PredictNext(1, prior, far, weights).Range().high,
            PredictNext(1, prior, close, weights).Range().high);
  // An observation without weight changes nothing.
  const std::vector<double> none = {0, 0, 0};
  EXPECT_DOUBLE_EQ(PredictNext(1, prior, far, none).Range().high, PredictNext(1, prior, {}, {}).Range().high);
}

}  // namespace
}  // namespace attune

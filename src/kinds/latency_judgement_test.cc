#include "kinds/latency_judgement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace attune {
namespace {

TEST(LatencyJudgementTest, IntervalsHoldTheTruth) {
  // An exponential distribution beyond 1: its mean is 2, its quantile of 99 % is 1 + ln 100.
  std::mt19937_64 random(1);
  std::exponential_distribution<double> beyond;
  const double truth = 1 + std::log(100);
  constexpr int kTrials = 300, kRuns = 2000;
  int mean_held = 0, p99_held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> runs(kRuns);
    for (double& run : runs) run = 1 + beyond(random);
    const LatencyJudgement judged = JudgeLatency(runs);
    EXPECT_EQ(judged.runs, kRuns);
    mean_held += judged.mean.low <= 2 && 2 <= judged.mean.high ? 1 : 0;
    p99_held += judged.p99.low <= truth && truth <= judged.p99.high ? 1 : 0;
    EXPECT_LE(judged.p99.low, judged.p99.value);
    EXPECT_LE(judged.p99.value, judged.p99.high);
  }
  EXPECT_GT(mean_held, 0.9 * kTrials);
  EXPECT_GT(p99_held, 0.9 * kTrials);
}

TEST(LatencyJudgementTest, FewRunsPromiseNothing) {
  std::vector<double> runs(kLeastRunsForP99 - 1, 1.0);
  EXPECT_TRUE(std::isinf(JudgeLatency(runs).p99.high));
  EXPECT_TRUE(ToJson(JudgeLatency(runs))["p99_ms"][2].is_null());
  runs.push_back(1);
  EXPECT_EQ(JudgeLatency(runs).p99.high, 1);
  EXPECT_EQ(JudgeLatency({runs.data(), 1}).mean.value, 1);
  EXPECT_TRUE(std::isinf(JudgeLatency({runs.data(), 1}).mean.high));
}

TEST(LatencyJudgementTest, ManyRunsAreJudgedToo) {
  const std::vector<double> runs(1 << 17, 2.0);
  EXPECT_EQ(JudgeLatency(runs).p99.high, 2);
  EXPECT_EQ(JudgeLatency(runs).p99.low, 2);
}

}  // namespace
}  // namespace attune

#include "measure/timing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "base/random.h"

namespace attune {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;

// A machine whose clock advances when batches run.
struct Machine {
  double now = 0;
};

// A kernel whose executions take `seconds(now)` each on this machine; each batch adds a fixed overhead.
class SimulatedKernel final : public BatchRunner {
 public:
  SimulatedKernel(Machine& machine, std::function<double(double now)> seconds)
      : machine_(machine), seconds_(std::move(seconds)) {}

  std::optional<Failure> Run(int64_t executions, double* seconds) override {
    executions_ += executions;
    if (fail_after >= 0 && executions_ > fail_after) return Failure{TrialOutcome::kCrashed, "it broke"};
    *seconds = 2e-5 + static_cast<double>(executions) * seconds_(machine_.now);
    machine_.now += *seconds;
    return std::nullopt;
  }
  std::optional<Failure> Move() override { return std::nullopt; }
  int64_t executions() const { return executions_; }

  int64_t fail_after = -1;

 private:
  Machine& machine_;
  std::function<double(double)> seconds_;
  int64_t executions_ = 0;
};

std::function<double(double)> Always(double seconds) {
  return [=](double) { return seconds; };
}

// Noise that occasionally triples the time.
std::function<double(double)> Noisy(double seconds, uint64_t seed) {
  return [=, random = Random(seed)](double) mutable {
    const double spike = random.Uniform() < 0.1 ? 3 : 1;
    return seconds * spike * (1 + 0.02 * random.Uniform());
  };
}

TEST(FindMedian, GivesTheTabledRanksOfOrderStatistics) {
  std::vector<double> samples;
  for (int i = 1; i <= 20; ++i) samples.push_back(i);
  std::reverse(samples.begin(), samples.end());
  const MedianInterval twenty = FindMedian(samples, 0.95);
  EXPECT_TRUE(twenty.is_significant);
  EXPECT_EQ(twenty.median, 10.5);
  EXPECT_EQ(twenty.low, 6);  // the 6th and the 15th of 20
  EXPECT_EQ(twenty.high, 15);
  EXPECT_FALSE(FindMedian(std::vector<double>{1, 2, 3, 4, 5}, 0.95).is_significant);  // 1 - 2/32 = 0.9375
  EXPECT_TRUE(FindMedian(std::vector<double>{1, 2, 3, 4, 5, 6}, 0.95).is_significant);
  EXPECT_EQ(FindMedian(std::vector<double>{7}, 0.95).median, 7);
  const std::vector<double> many(5000, 1.0);
  EXPECT_TRUE(FindMedian(many, 0.95).is_significant);
}

TEST(FindMedian, CoversTheMedianAsOftenAsItSays) {
  Random random(3);
  int covered = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> samples(25);
    for (double& sample : samples) sample = -std::log(1 - random.Uniform());
    const MedianInterval interval = FindMedian(samples, 0.9);
    covered += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
  }
  EXPECT_GE(covered, kRounds * 0.9 - 60);
}

TEST(TimeInterleaved, FindsTheMedianOfANoisyKernelAndStops) {
  Machine machine;
  SimulatedKernel kernel(machine, Noisy(1e-5, 1));
  Measurement measurement;
  TimeInterleaved(kernel, nullptr, 0, {}, &measurement);
  ASSERT_EQ(measurement.outcome, TrialOutcome::kOk) << measurement.reason;
  EXPECT_THAT(measurement.timing.seconds, DoubleNear(1e-5, 5e-7));
  EXPECT_LE(measurement.timing.low, measurement.timing.seconds);
  EXPECT_GE(measurement.timing.high, measurement.timing.seconds);
  EXPECT_LT(machine.now, 0.2);
  EXPECT_GT(measurement.timing.repetitions, 100);
}

TEST(TimeInterleaved, AKernelThatTakesLongerThanABatchRunsAFewTimes) {
  Machine machine;
  SimulatedKernel kernel(machine, Always(0.3));
  Measurement measurement;
  TimeInterleaved(kernel, nullptr, 0, {}, &measurement);
  ASSERT_EQ(measurement.outcome, TrialOutcome::kOk);
  EXPECT_THAT(measurement.timing.seconds, DoubleNear(0.3, 1e-6));
  EXPECT_LE(kernel.executions(), 4);
}

TEST(TimeInterleaved, FewTurnsAreNotSureButForWhoeverWaits) {
  MeasureOptions options;
  for (const bool waits : {false, true}) {
    Machine machine;
    SimulatedKernel candidate(machine, Always(0.1)), baseline(machine, Always(0.11));
    options.until_significant = waits;
    Measurement measurement;
    TimeInterleaved(candidate, &baseline, 0.11, options, &measurement);
    ASSERT_EQ(measurement.outcome, TrialOutcome::kOk);
    EXPECT_EQ(measurement.is_significant, waits);
    EXPECT_LT(measurement.ratio_high, 1);
  }
  // But it does not wait for ever.
  Machine machine;
  SimulatedKernel candidate(machine, Always(5)), baseline(machine, Always(6));
  Measurement measurement;
  TimeInterleaved(candidate, &baseline, 6, options, &measurement);
  EXPECT_FALSE(measurement.is_significant);
}

TEST(TimeInterleaved, WhatIsClearlyWorseIsAbandonedEarly) {
  Machine machine;
  SimulatedKernel slow(machine, Noisy(2e-5, 1)), fast(machine, Noisy(1e-5, 2));
  MeasureOptions options;
  options.precision = 1e-6;
  Measurement measurement;
  TimeInterleaved(slow, &fast, 1e-5, options, &measurement);
  EXPECT_EQ(measurement.outcome, TrialOutcome::kOk);
  EXPECT_TRUE(measurement.abandoned);
  EXPECT_LT(machine.now, 0.05);

  Measurement by_time;
  TimeInterleaved(slow, nullptr, 1e-5, options, &by_time);
  EXPECT_TRUE(by_time.abandoned);

  Measurement better;
  TimeInterleaved(fast, &slow, 2e-5, options, &better);
  EXPECT_FALSE(better.abandoned);
}

TEST(TimeInterleaved, DriftConcernsBothAlike) {
  Machine machine;
  // A processor clock that drops to half its speed.
  const auto drifting = [](double seconds) {
    return [=](double now) { return seconds * (1 + std::min(1.0, 10 * now)); };
  };
  SimulatedKernel candidate(machine, drifting(0.9e-5)), baseline(machine, drifting(1e-5));
  Measurement measurement;
  TimeInterleaved(candidate, &baseline, 1e-5, {}, &measurement);
  ASSERT_EQ(measurement.outcome, TrialOutcome::kOk);
  EXPECT_THAT(measurement.ratio, DoubleNear(0.9, 0.02));
  EXPECT_LE(measurement.ratio_low, measurement.ratio);
  EXPECT_GE(measurement.ratio_high, measurement.ratio);
  EXPECT_THAT(measurement.normalized_seconds, DoubleNear(0.9e-5, 0.03e-5));
  EXPECT_GT(measurement.baseline_seconds, 1e-5);
}

TEST(TimeInterleaved, AnIncumbentThatBreaksDoesNotCountAgainstTheCandidate) {
  Machine machine;
  SimulatedKernel candidate(machine, Always(1e-5)), baseline(machine, Always(1e-5));
  baseline.fail_after = 300;
  Measurement measurement;
  MeasureOptions options;
  options.precision = 0;
  TimeInterleaved(candidate, &baseline, 1e-5, options, &measurement);
  EXPECT_EQ(measurement.outcome, TrialOutcome::kOk);
  EXPECT_EQ(measurement.ratio, 0);
  EXPECT_THAT(measurement.timing.seconds, DoubleNear(1e-5, 1e-8));
}

// A disturbance at the beginning says nothing about the candidate.
TEST(TimeInterleaved, GoesOnBeyondItsLimitWhereBatchesDoNotAgree) {
  Machine machine;
  Random random(5);
  SimulatedKernel kernel(machine,
                         [&](double now) { return 1e-5 * (now < 0.1 ? std::exp(4 * random.Uniform()) : 1); });
  MeasureOptions options;
  options.seconds_limit = 0.05;
  Measurement measurement;
  TimeInterleaved(kernel, nullptr, 0, options, &measurement);
  ASSERT_EQ(measurement.outcome, TrialOutcome::kOk) << measurement.reason;
  EXPECT_GT(machine.now, 0.1);
}

TEST(TimeInterleaved, ACandidateThatBreaksIsReportedSo) {
  Machine machine;
  SimulatedKernel candidate(machine, Always(1e-5));
  candidate.fail_after = 200;
  Measurement measurement;
  TimeInterleaved(candidate, nullptr, 0, {}, &measurement);
  EXPECT_EQ(measurement.outcome, TrialOutcome::kCrashed);
  EXPECT_EQ(measurement.reason, "it broke");
}

TEST(TimeInterleaved, ATimeThatCannotBeIsNoTiming) {
  Machine machine;
  SimulatedKernel nothing(machine, Always(0));
  Measurement measurement;
  TimeInterleaved(nothing, nullptr, 0, {}, &measurement);
  EXPECT_EQ(measurement.outcome, TrialOutcome::kInvalidTiming);
  EXPECT_THAT(measurement.reason, HasSubstr("took no time"));

  Random random(5);
  SimulatedKernel wild(machine, [&](double) { return 1e-4 * std::exp(8 * random.Uniform()); });
  Measurement disagreeing;
  TimeInterleaved(wild, nullptr, 0, {}, &disagreeing);
  EXPECT_EQ(disagreeing.outcome, TrialOutcome::kInvalidTiming);
  EXPECT_THAT(disagreeing.reason, HasSubstr("do not agree"));
}

TEST(AbandonEarly, GivesUpOnlyWhatIsSurelyTooSlow) {
  MeasureOptions options;
  options.best_ratio = 0.8;
  const auto abandon = [&](double seconds) {
    Machine machine;
    SimulatedKernel kernel(machine, Noisy(seconds, 5));
    return AbandonEarly(kernel, /*baseline_seconds=*/1e-4, options);
  };
  const auto slow = abandon(2e-4);
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->outcome, TrialOutcome::kOk);
  EXPECT_TRUE(slow->abandoned);
  EXPECT_THAT(slow->timing.low, DoubleNear(2e-4, 1e-5));
  EXPECT_FALSE(abandon(1.1e-4).has_value());  // other memory may be the reason
  options.abandon_ratio = 0;
  EXPECT_FALSE(abandon(2e-4).has_value());
}

TEST(AbandonEarly, SaysWhatFailed) {
  Machine machine;
  SimulatedKernel kernel(machine, Always(1e-4));
  kernel.fail_after = 5;
  const auto failed = AbandonEarly(kernel, /*baseline_seconds=*/1e-4, {});
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->outcome, TrialOutcome::kCrashed);
}

}  // namespace
}  // namespace attune

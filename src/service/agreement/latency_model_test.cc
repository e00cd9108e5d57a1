#include "service/agreement/latency_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "service/agreement/duration_model.h"
#include "service/agreement/observations_for_test.h"

namespace attune {
namespace {

NetworkToPredict NetworkLike(const Observation& observation) {
  return {.device = observation.device,
          .tasks = observation.tasks,
          .plan = observation.plan,
          .bound_ms = 0.1 * observation.mean_ms.median};
}

double Width(const PromiseRange& range) { return std::log(range.high / range.low); }

TEST(LatencyModelTest, WithoutRecordsThePriorIsAllThereIs) {
  const LatencyForecast forecast = LatencyModel({}).Predict(NetworkLike(MadeUpObservation(1)));
  EXPECT_NEAR(forecast.mean.Range().median, forecast.prior.Range().median, 1e-9);
  EXPECT_NEAR(Width(forecast.mean.Range()), Width(forecast.prior.Range()), 1e-9);
  EXPECT_EQ(forecast.networks, 0);
  EXPECT_GT(forecast.bound_ms, 0);
  EXPECT_GT(forecast.mean.TimesAnyOf(forecast.slowest).Range().median, forecast.mean.Range().median);
}

TEST(LatencyModelTest, IntervalsHoldAboutTheirShareAndAreNarrowerThanThePriors) {
  const LatencyModel model(MadeUpObservations(30, /*ratio=*/3, /*noise=*/0.15));
  constexpr int kJudged = 60;
  int held = 0;
  double width = 0, prior_width = 0;
  for (int i = 0; i < kJudged; ++i) {
    const Observation real = MadeUpObservation(1000 + i, 3, 0.15);
    const LatencyForecast forecast = model.Predict(NetworkLike(real));
    const PromiseRange range = forecast.mean.Range();
    held += range.low <= real.mean_ms.median && real.mean_ms.median <= range.high ? 1 : 0;
    width += Width(range) / kJudged;
    prior_width += Width(forecast.prior.Range()) / kJudged;
  }
  EXPECT_GE(held, 0.65 * kJudged);
  EXPECT_LT(width, 0.5 * prior_width);
}

TEST(LatencyModelTest, KnownTasksMakeItNarrower) {
  const LatencyModel model(MadeUpObservations(20));
  const LatencyForecast known = model.Predict(NetworkLike(MadeUpObservation(3)));
  const LatencyForecast unknown = model.Predict(NetworkLike(MadeUpObservation(500)));
  EXPECT_NEAR(known.share_known, 1, 1e-9);
  EXPECT_EQ(unknown.share_known, 0);
  EXPECT_LT(Width(known.mean.Range()), Width(unknown.mean.Range()));
  EXPECT_NEAR(known.mean.Range().median / MadeUpObservation(3).mean_ms.median, 1, 0.2);
}

TEST(LatencyModelTest, AMeasuredNetworkTakesWhatItTook) {
  std::vector<std::shared_ptr<const Observation>> observations = MadeUpObservations(20);
  for (const double ms : {3.80, 3.80, 3.70}) {
    Observation measured = MadeUpObservation(500);
    measured.job = absl::StrCat("job at ", ms);
    measured.mean_ms = {0.99 * ms, ms, 1.01 * ms};
    measured.p99_ms = {1.05 * ms, 1.1 * ms, std::numeric_limits<double>::infinity()};
    observations.push_back(std::make_shared<const Observation>(std::move(measured)));
  }
  NetworkToPredict network = NetworkLike(MadeUpObservation(500));
  network.network = MadeUpObservation(500).network;
  network.bound_ms = 20;  // which is wrong
  const LatencyForecast forecast = LatencyModel(observations).Predict(network);
  EXPECT_EQ(forecast.measurements, 3);
  EXPECT_NEAR(forecast.mean.Range().median, 3.8, 0.1);
  EXPECT_GT(forecast.mean.Probability(4), 0.85);
  EXPECT_LE(forecast.bound_ms, 3.70);
  EXPECT_NEAR(forecast.mean.TimesAnyOf(forecast.slowest).Range().median, 1.1 * 3.8, 0.2);
  // On another device it is a network like others.
  network.device = "other";
  EXPECT_EQ(LatencyModel(observations).Predict(network).measurements, 0);
}

TEST(LatencyModelTest, CallsCostSomething) {
  NetworkToPredict network = {.device = "board",
                              .tasks = {{.task = "t", .uses = 1, .bound = kLeastTaskSeconds}}};
  const LatencyModel model({});
  const double one = model.Predict(network).estimate_ms;
  EXPECT_GT(one, 1e3 * 10 * kLeastTaskSeconds);
  network.tasks[0].uses = 101;
  EXPECT_GT(model.Predict(network).estimate_ms, one + 1e3 * 100 * 2 * kLeastTaskSeconds);
}

TEST(LatencyModelTest, OtherDevicesTellLess) {
  const LatencyModel model(MadeUpObservations(20));
  NetworkToPredict elsewhere = NetworkLike(MadeUpObservation(3));
  elsewhere.device = "other";
  const LatencyForecast forecast = model.Predict(elsewhere);
  EXPECT_EQ(forecast.networks, 0);
  EXPECT_EQ(forecast.share_known, 0);
}

TEST(DurationTest, JobsBeforeTellHowLongItTakes) {
  const TuningPlan plan = {.trials = 100, .tasks = 10};
  const FinishForecast alone = PredictFinish(plan, {}, 1, {});
  EXPECT_NEAR(alone.finish.Range().median, NominalSeconds(plan), 1e-9);
  const auto seen = MadeUpObservations(20);
  const FinishForecast taught = PredictFinish(plan, {}, 1, seen);
  EXPECT_LT(Width(taught.finish.Range()), 0.5 * Width(alone.finish.Range()));
  EXPECT_NEAR(taught.finish.Range().median, 30, 4);
}

TEST(DurationTest, TheQueueCounts) {
  const TuningPlan plan = {.trials = 100, .tasks = 10};
  const std::vector<JobAhead> ahead = {{100}, {50}};
  const FinishForecast waits = PredictFinish(plan, ahead, 1, {});
  EXPECT_GT(waits.queue_seconds, 0);
  EXPECT_LE(waits.queue_seconds, 2 * NominalSeconds(plan));
  EXPECT_LT(PredictFinish(plan, std::span(ahead).first(1), 1, {}).queue_seconds, waits.queue_seconds);
  EXPECT_LT(PredictFinish(plan, ahead, 2, {}).queue_seconds, waits.queue_seconds);
  EXPECT_LT(NominalSeconds({.seconds = 10}), NominalSeconds({.seconds = 100}));
}

}  // namespace
}  // namespace attune

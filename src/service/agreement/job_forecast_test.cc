#include "service/agreement/job_forecast.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/testing/temporary_folder.h"
#include "service/agreement/observations_for_test.h"

namespace attune {
namespace {

class JobForecastTest : public ::testing::Test {
 protected:
  JobForecastTest() {
    job_.tenant = "ann";
    job_.kind = "tuning";
    facts_.network = "network of today";
    facts_.weight_bytes = 4e6;
    facts_.tasks = {{.digest = "task",
                     .description = "conv 1x8",
                     .anchor = "conv",
                     .uses = 3,
                     .sure_uses = 3,
                     .work = {.flops = 1e9, .bytes_read = 1e6, .bytes_written = 1e6}}};
    device_.info.fingerprint = "board";
    device_.info.target = *TargetByName("x86-64-v3");
    device_.count = 1;
  }

  absl::StatusOr<JobForecast> Predict(Observers observers = Observers::kOwnAndSharing) {
    return PredictJob({.job = job_, .facts = facts_, .device = device_, .threads = 1, .ahead = ahead_},
                      observers, known_, quantizations_);
  }

  AskedJob job_;
  ModelFacts facts_;
  DeviceOfKey device_;
  std::vector<JobAhead> ahead_;
  const testing::TemporaryFolder folder_;
  const std::unique_ptr<AgreementStore> store_ = *AgreementStore::Open(SqlLocation(folder_.path()));
  KnownAnswers known_{*store_};
  QuantizationModel quantizations_;
};

TEST_F(JobForecastTest, WithoutMeasurementsTheProcessorsKindTells) {
  const auto forecast = Predict();
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_FALSE(forecast->are_peaks_measured);
  EXPECT_GT(forecast->latency.bound_ms, 0);
  EXPECT_GT(forecast->latency.mean.Quantile(0.5), forecast->latency.bound_ms);
  EXPECT_EQ(forecast->latency.networks, 0);
  EXPECT_GE(forecast->size_bytes.Quantile(0.01), facts_.weight_bytes);
  EXPECT_FALSE(forecast->quantization.has_value());
}

TEST_F(JobForecastTest, MeasuredRatesRaiseTheBound) {
  const double bound_ms = Predict()->latency.bound_ms;
  ASSERT_TRUE(known_.Add(MadeUpObservation(1)).ok());
  const auto forecast = Predict();
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_TRUE(forecast->are_peaks_measured);
  EXPECT_GT(forecast->latency.bound_ms, bound_ms);
}

TEST_F(JobForecastTest, TheJobsAheadDelayItsEnd) {
  const FinishForecast alone = Predict()->finish;
  ahead_ = {{.remaining_seconds = 1000}};
  EXPECT_GT(Predict()->finish.queue_seconds, alone.queue_seconds);
}

TEST_F(JobForecastTest, AQuantizationMayBeFasterThanAnyF32) {
  const double bound_ms = Predict()->latency.bound_ms;
  job_.kind = "quantization";
  job_.settings = {{"model", "in/net.onnx"}, {"data", "in/data"}};
  const auto forecast = Predict();
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  ASSERT_TRUE(forecast->quantization.has_value());
  EXPECT_LT(forecast->latency.bound_ms, bound_ms);
}

TEST_F(JobForecastTest, SettingsOfAnotherKindAreAnError) {
  job_.kind = "quantization";
  job_.settings = {{"model", 7}};
  EXPECT_TRUE(absl::IsInvalidArgument(Predict().status()));
}

}  // namespace
}  // namespace attune

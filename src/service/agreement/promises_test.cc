// Agreements, forecasts and the states of promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/agreement/job_learner.h"
#include "service/agreement/observations_for_test.h"
#include "service/agreement/promises_of_job.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(AgreementTest, JsonBothWays) {
  const Json json = {{"latency_ms", {{"mean", 5}, {"p99", 7}}},
                     {"accuracy_loss", 0},
                     {"size_bytes", 1e6},
                     {"deadline_seconds", 1800},
                     {"device_seconds", 600},
                     {"priority", "high"}};
  const absl::StatusOr<Agreement> agreement = AgreementOfJson(json);
  ASSERT_TRUE(agreement.ok()) << agreement.status();
  EXPECT_EQ(agreement->mean_ms, 5);
  EXPECT_EQ(agreement->accuracy_loss, 0);
  EXPECT_EQ(*AgreementOfJson(ToJson(*agreement)), *agreement);
}

TEST(AgreementTest, WhatIsWrongIsNamed) {
  const std::pair<Json, const char*> wrong[] = {{{{"latency_ms", {{"mean", 0}}}}, "/latency_ms/mean"},
                                                {{{"latency_ms", 5}}, "/latency_ms"},
                                                {{{"latency_ms", {{"median", 5}}}}, "/latency_ms/median"},
                                                {{{"accuracy_loss", 2}}, "/accuracy_loss"},
                                                {{{"priority", "royal"}}, "/priority"},
                                                {{{"price", 1}}, "/price"},
                                                {Json::array(), "not an object"}};
  for (const auto& [json, place] : wrong)
    EXPECT_THAT(AgreementOfJson(json).status().message(), HasSubstr(place)) << json;
}

JobForecast JobForecastOf(double mean_ms, double bound_ms) {
  JobForecast job_forecast = {.are_peaks_measured = true};
  job_forecast.latency.mean = LogPrediction(std::log(mean_ms), 0.1, 20);
  job_forecast.latency.slowest = {1.2};
  job_forecast.latency.prior = LogPrediction(std::log(mean_ms), 0.5, 4);
  job_forecast.latency.bound_ms = bound_ms;
  job_forecast.finish.finish = LogPrediction(std::log(60), 0.2, 20);
  job_forecast.finish.prior = LogPrediction(std::log(60), 0.5, 4);
  job_forecast.finish.work_seconds = 50;
  job_forecast.size_bytes = LogPrediction(std::log(1e6), 0.05, 20);
  return job_forecast;
}

TEST(AgreementForecastTest, AnImpossiblePromiseIsRefusedWithTheBound) {
  const AgreementForecast forecast =
      MakeForecast({.mean_ms = 1, .deadline_seconds = 1000}, JobForecastOf(5, 2));
  EXPECT_EQ(forecast.verdict, Verdict::kRefused);
  EXPECT_THAT(forecast.reason, HasSubstr("2 ms"));
  ASSERT_EQ(forecast.promises.size(), 2u);
  EXPECT_EQ(forecast.promises[0].state, PromiseState::kImpossible);
  EXPECT_EQ(forecast.promises[1].state, PromiseState::kExpected);
}

TEST(AgreementForecastTest, AnImprobableOneIsRenegotiated) {
  const AgreementForecast forecast = MakeForecast({.mean_ms = 4.2}, JobForecastOf(5, 2));
  EXPECT_EQ(forecast.verdict, Verdict::kRenegotiated);
  ASSERT_EQ(forecast.offers.size(), 1u);
  // The offer is promised.
  const Agreement offered = {.mean_ms = forecast.offers[0].limit};
  EXPECT_EQ(MakeForecast(offered, JobForecastOf(5, 2)).promises[0].state, PromiseState::kExpected);
  EXPECT_EQ(MakeForecast(offered, JobForecastOf(5, 2)).verdict, Verdict::kAccepted);
  // A user may take the risk.
  EXPECT_EQ(MakeForecast({.mean_ms = 4.2, .least_probability = 0}, JobForecastOf(5, 2)).verdict,
            Verdict::kAccepted);
}

TEST(AgreementForecastTest, AllPromisesArePredicted) {
  const Agreement agreement = {.mean_ms = 6,
                               .p99_ms = 8,
                               .accuracy_loss = 0.01,
                               .size_bytes = 2e6,
                               .deadline_seconds = 600,
                               .device_seconds = 300};
  const AgreementForecast forecast = MakeForecast(agreement, JobForecastOf(5, 2));
  EXPECT_EQ(forecast.verdict, Verdict::kAccepted) << forecast.reason;
  EXPECT_EQ(forecast.promises.size(), 6u);
  for (const Promise& promise : forecast.promises) {
    EXPECT_EQ(promise.state, PromiseState::kExpected) << promise.name;
    EXPECT_FALSE(promise.evidence.empty()) << promise.name;
  }
  EXPECT_EQ(ToJson(forecast)["promises"].size(), 6u);
}

TEST(AgreementForecastTest, AKnownAnswerMeetsItAtOnce) {
  const auto known = std::make_shared<const Observation>(MadeUpObservation(1));
  const AgreementForecast forecast = ForecastOfKnown(
      {.mean_ms = known->mean_ms.high, .p99_ms = known->p99_ms.high, .accuracy_loss = 0}, known);
  EXPECT_EQ(forecast.verdict, Verdict::kKnown);
  for (const Promise& promise : forecast.promises)
    EXPECT_EQ(promise.state, PromiseState::kMet) << promise.name;
}

class PromisesOfJobTest : public ::testing::Test {
 protected:
  // The promises of a job with all needs, by name.
  std::map<std::string, Promise> Of(JobToday job) const {
    const Agreement agreement = {.mean_ms = 6,
                                 .p99_ms = 8,
                                 .accuracy_loss = 0.01,
                                 .size_bytes = 2e6,
                                 .deadline_seconds = 100,
                                 .device_seconds = 100};
    const KeptAgreement kept = {.agreement = agreement,
                                .promises = MakeForecast(agreement, JobForecastOf(5, 2)).promises};
    job.agreement = kept.ToText();
    if (job.kind.empty()) job.kind = "tuning";
    std::map<std::string, Promise> promises;
    for (const Promise& promise : PromisesOf(job)) promises[promise.name] = promise;
    EXPECT_EQ(promises.size(), 6u);
    return promises;
  }
  static Json Judged(double mean_high, Json p99_high) {
    return {{"device_seconds", 40},
            {"judged",
             {{"runs", 500},
              {"artifact_bytes", 1e6},
              {"mean_ms", {5, 4.9, mean_high}},
              {"p99_ms", {6, 5.5, p99_high}}}}};
  }
};

TEST_F(PromisesOfJobTest, ADisturbedDeviceJudgesNoLatency) {
  Json result = Judged(5.5, 7);
  result["judged"]["is_disturbed"] = true;
  result["judged"]["waited_share"] = 4.9;
  JobToday done = {.state = "done", .result = result.dump(), .submitted_ms = 0, .ended_ms = 90'000};
  for (const auto& [name, promise] : Of(done)) {
    const bool is_latency = name == kLatencyMean || name == kLatencyP99;
    EXPECT_EQ(promise.state, is_latency ? PromiseState::kUnknown : PromiseState::kMet) << name;
    if (is_latency) {
      EXPECT_THAT(promise.evidence.front(),
                  HasSubstr("not judged: other programs disturbed the device at each attempt"));
    }
  }
  done.kind = "quantization";
  done.result = Json{{"best", "mse"},
                     {"variants",
                      {{{"name", "mse"},
                        {"ms", 1},
                        {"baseline_ms", 2},
                        {"speedup_low", 1.9},
                        {"speedup_high", 2.1},
                        {"is_disturbed", true}}}}}
                    .dump();
  EXPECT_EQ(Of(done)[kLatencyMean].state, PromiseState::kUnknown);
}

TEST_F(PromisesOfJobTest, TheWorseEndDecides) {
  const JobToday done = {
      .state = "done", .result = Judged(5.5, 7).dump(), .submitted_ms = 0, .ended_ms = 90'000};
  for (const auto& [name, promise] : Of(done)) EXPECT_EQ(promise.state, PromiseState::kMet) << name;
  JobToday close = done;
  close.result = Judged(6.1, 7).dump();
  EXPECT_EQ(Of(close)[kLatencyMean].state, PromiseState::kBroken);
  EXPECT_EQ(Of(close)[kLatencyP99].state, PromiseState::kMet);
  // Too few runs show nothing.
  close.result = Judged(5, nullptr).dump();
  EXPECT_EQ(Of(close)[kLatencyP99].state, PromiseState::kBroken);
  close.ended_ms = 101'000;
  EXPECT_EQ(Of(close)[kDeadline].state, PromiseState::kBroken);
}

TEST_F(PromisesOfJobTest, EachSaysHowItWasMeasured) {
  auto done = Of({.state = "done", .result = Judged(5.5, 7).dump(), .ended_ms = 90'000});
  const auto evidence = [&](const char* name) { return done[name].evidence.at(0); };
  EXPECT_EQ(evidence(kLatencyMean), "measured: 500 runs of the whole network");
  EXPECT_EQ(evidence(kLatencyP99), "measured: 500 runs of the whole network");
  EXPECT_EQ(evidence(kAccuracyLoss), "every kernel was checked against the reference");
  EXPECT_EQ(evidence(kDeadline), "measured: from the submission to the end");
}

// Whatever a runner says.
TEST_F(PromisesOfJobTest, NoResultTakesLongToJudge) {
  for (const char* samples : {"1e300", "-1", "18446744073709551615", "null", "\"many\""}) {
    for (const char* loss : {"0.5", "-1", "1e300", "null"}) {
      const std::string variant =
          absl::StrCat(R"({"name": "a", "judged_samples": )", samples, R"(, "judged_loss": )", loss, "}");
      const auto promises = Of({.kind = "quantization",
                                .state = "done",
                                .result = absl::StrCat(R"({"best": "a", "variants": [)", variant, "]}"),
                                .ended_ms = 1});
      EXPECT_EQ(promises.at(kAccuracyLoss).state, PromiseState::kBroken) << variant;
    }
  }
}

TEST_F(PromisesOfJobTest, WhatWasNotMeasuredIsNotMet) {
  const auto promises = Of({.state = "done", .result = "{}", .ended_ms = 1000});
  EXPECT_EQ(promises.at(kLatencyMean).state, PromiseState::kBroken);
  for (const char* state : {"failed", "cancelled"})
    for (const auto& [name, promise] : Of({.state = state}))
      EXPECT_EQ(promise.state, PromiseState::kBroken) << name;
}

TEST_F(PromisesOfJobTest, TheyFollowTheJob) {
  JobToday job = {.state = "running", .remaining_seconds = 30, .now_ms = 10'000};
  job.figures = R"({"latency_ms": 4.5, "device_seconds": 5})";
  EXPECT_EQ(Of(job)[kLatencyMean].state, PromiseState::kExpected);
  EXPECT_EQ(Of(job)[kDeadline].state, PromiseState::kExpected);
  job.figures = R"({"latency_ms": 9, "device_seconds": 110})";
  job.remaining_seconds = 1;
  EXPECT_EQ(Of(job)[kLatencyMean].state, PromiseState::kAtRisk);
  EXPECT_EQ(Of(job)[kDeviceSeconds].state, PromiseState::kBroken);
  job.now_ms = 99'000;
  job.remaining_seconds = 20;
  EXPECT_EQ(Of(job)[kDeadline].state, PromiseState::kAtRisk);
  job.now_ms = 101'000;
  EXPECT_EQ(Of(job)[kDeadline].state, PromiseState::kBroken);
  for (const auto& [name, promise] : Of({.state = "waiting"}))
    EXPECT_EQ(promise.state, PromiseState::kExpected) << name;
}

TEST_F(PromisesOfJobTest, AccuracyIsJudgedByTheUpperEndOfTheLoss) {
  const auto result = [](double drop, int samples) {
    return Json({{"best", "a"},
                 {"variants",
                  {{{"name", "a"},
                    {"judged_loss", drop},
                    {"judged_samples", samples},
                    {"ms", 3},
                    {"baseline_ms", 6},
                    {"speedup_low", 1.9},
                    {"speedup_high", 2.1},
                    {"artifact_bytes", 5e5}}}}})
        .dump();
  };
  const auto state = [&](double drop, int samples) {
    return Of({.kind = "quantization",
               .state = "done",
               .result = result(drop, samples),
               .ended_ms = 1})[kAccuracyLoss]
        .state;
  };
  EXPECT_EQ(state(0, 1000), PromiseState::kMet);
  EXPECT_EQ(state(0, 100), PromiseState::kBroken);  // 0 of 100 do not show less than 1 %
  EXPECT_EQ(state(0.009, 1000), PromiseState::kBroken);
}

TEST(KeptAgreementTest, ComesBackAsItWas) {
  const KeptAgreement kept = {.queue_seconds = 3, .finish_seconds = 40, .network = "n"};
  const auto read = KeptAgreement::FromText(kept.ToText());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->queue_seconds, 3);
  EXPECT_EQ(read->finish_seconds, 40);
  EXPECT_EQ(read->network, "n");
}

TEST(KeptAgreementTest, DamageIsAnError) {
  EXPECT_FALSE(KeptAgreement::FromText("{}").ok());
  EXPECT_FALSE(KeptAgreement::FromText("no").ok());
  EXPECT_TRUE(PromisesOf({.kind = "tuning", .state = "done", .agreement = "{}"}).empty());
}

TEST(PromiseCountsTest, CountsWhatWasMetAndBroken) {
  PromiseCounts counts;
  counts.Count({{.name = kLatencyMean, .state = PromiseState::kMet},
                {.name = kDeadline, .state = PromiseState::kBroken},
                {.name = kSizeBytes, .state = PromiseState::kUnknown}});
  MetricsText text;
  counts.AddTo(text);
  for (const char* line :
       {"{promise=\"latency_mean\",result=\"met\"} 1\n", "{promise=\"latency_mean\",result=\"broken\"} 0\n",
        "{promise=\"deadline_seconds\",result=\"broken\"} 1\n",
        "{promise=\"size_bytes\",result=\"met\"} 0\n"})
    EXPECT_TRUE(absl::StrContains(text.text(), absl::StrCat("attune_promises_total", line))) << text.text();
}

}  // namespace
}  // namespace attune

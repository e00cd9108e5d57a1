// A forecast agrees with itself and with the measurements, whatever was observed and is requested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "kinds/loss_judgement.h"
#include "service/agreement/job_forecast.h"
#include "service/agreement/observations_for_test.h"
#include "service/agreement/promises_of_job.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class Draw {
 public:
  explicit Draw(int seed) : random_(static_cast<uint64_t>(seed)) {}
  double Between(double low, double high) {
    return std::exp(std::uniform_real_distribution<double>(std::log(low), std::log(high))(random_));
  }
  bool OneIn(int n) { return std::uniform_int_distribution<int>(1, n)(random_) == 1; }
  int Up(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

 private:
  std::mt19937_64 random_;
};

// A network, what was seen before, and what is asked.
struct Situation {
  JobForecast job_forecast;
  Agreement agreement;
  double fastest_ms = 0;  // that this network was measured at; 0: it was not
};

Situation Make(int seed) {
  Draw draw(seed);
  Situation made;
  const Observation subject = MadeUpObservation(1'000'000 + seed, draw.Between(1, 20), 0.3, 1 + draw.Up(20));
  std::vector<std::shared_ptr<const Observation>> seen =
      MadeUpObservations(draw.Up(12), draw.Between(1, 10), draw.Between(0.01, 1));
  for (int i = draw.Up(3); i > 0; --i) {
    Observation measured = subject;
    measured.job = absl::StrCat("again ", i);
    const double ms = subject.mean_ms.median * draw.Between(0.2, 5);
    measured.mean_ms = {ms * 0.98, ms, ms * 1.02};
    measured.p99_ms = {ms, ms * draw.Between(1, 3), std::numeric_limits<double>::infinity()};
    made.fastest_ms = made.fastest_ms > 0 ? std::min(made.fastest_ms, ms * 0.98) : ms * 0.98;
    seen.push_back(std::make_shared<const Observation>(std::move(measured)));
  }
  NetworkToPredict network = {.network = subject.network,
                              .device = draw.OneIn(5) ? "other" : subject.device,
                              .tasks = subject.tasks,
                              .plan = {.trials = draw.Between(1, 1e4), .tasks = 10},
                              // A bound may be wrong, and next to all that is predicted may lie below it.
                              .bound_ms = subject.mean_ms.median * draw.Between(0.01, 3)};
  if (network.device != subject.device) made.fastest_ms = 0;
  JobForecast& job_forecast = made.job_forecast;
  job_forecast.latency = LatencyModel(seen).Predict(network);
  SizeForecast size = PredictSize(subject.network, subject.weight_bytes, seen);
  job_forecast.size_bytes = size.bytes;
  job_forecast.finish = PredictFinish(network.plan, {}, 1, seen, subject.network);
  if (draw.OneIn(3)) {
    QuantizationModel model;
    for (int i = draw.Up(5); i > 0; --i)
      model.Add({.job = absl::StrCat("q", i),
                 .tenant = "ann",
                 .network = draw.OneIn(2) ? subject.network : "another",
                 .device = subject.device,
                 .latency_ms = subject.mean_ms.median,
                 .latency_ratio = draw.Between(0.1, 2),
                 .loss = draw.OneIn(2) ? 0 : draw.Between(1e-3, 1),
                 .judged = draw.Between(10, 1e3)});
    job_forecast.quantization =
        model.Predict({.tenant = "ann",
                       .network = subject.network,
                       .device = subject.device,
                       .peaks = {.gflops_per_core = 100, .int8_gops_per_core = draw.Between(100, 3000)},
                       .weight_bytes = subject.weight_bytes,
                       .plan = {.samples = draw.Up(4000), .period = 4, .variants = 1 + draw.Up(4)}});
    made.fastest_ms = 0;
  }
  const double asked = subject.mean_ms.median * draw.Between(0.01, 100);
  made.agreement.mean_ms = asked;
  made.agreement.p99_ms = asked * draw.Between(0.5, 3);
  made.agreement.size_bytes = draw.Between(1e3, 1e8);
  made.agreement.accuracy_loss = draw.OneIn(5) ? 0 : draw.Between(1e-3, 1);
  made.agreement.least_probability = draw.Between(0.01, 1);
  return made;
}

const Promise& Find(const AgreementForecast& forecast, const std::string& name) {
  return *std::ranges::find(forecast.promises, name, &Promise::name);
}

constexpr int kSituations = 150;

TEST(AgreementForecastPropertiesTest, NothingLiesBelowTheBoundAndTheSlowestAreNotFaster) {
  for (int seed = 0; seed < kSituations; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Situation made = Make(seed);
    const LatencyForecast& latency = made.job_forecast.latency;
    const LogPrediction slowest = latency.mean.TimesAnyOf(latency.slowest);
    for (const LogPrediction* prediction : {&latency.mean, &slowest, &latency.prior})
      EXPECT_EQ(prediction->Probability(0.999999 * latency.bound_ms), 0);
    double before = 0;
    for (const double p : {0.01, 0.1, 0.3, 0.5, 0.8, 0.9, 0.99}) {
      const double mean = latency.mean.Quantile(p), tail = slowest.Quantile(p);
      EXPECT_GE(mean, before);
      EXPECT_GE(tail, mean * (1 - 1e-9));
      before = mean;
    }
    // A shorter limit is never more probable.
    double last = 0;
    for (double ms = 0.1 * latency.bound_ms; ms < 100 * latency.bound_ms; ms *= 1.3) {
      const double now = latency.mean.Probability(ms);
      EXPECT_GE(now, last);
      EXPECT_LE(slowest.Probability(ms), now + 1e-12);
      last = now;
    }
  }
}

TEST(AgreementForecastPropertiesTest, WhatIsSaidAgrees) {
  for (int seed = 0; seed < kSituations; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Situation made = Make(seed);
    const AgreementForecast forecast = MakeForecast(made.agreement, made.job_forecast);
    const Promise &mean = Find(forecast, kLatencyMean), &p99 = Find(forecast, kLatencyP99);
    for (const double PromiseRange::* level :
         {&PromiseRange::low, &PromiseRange::median, &PromiseRange::high}) {
      EXPECT_GE(p99.range.*level, mean.range.*level * (1 - 1e-9));
      EXPECT_GE(mean.range.*level, forecast.bound_ms * (1 - 1e-9));
    }
    for (const Promise& promise : forecast.promises) {
      EXPECT_LE(promise.range.low, promise.range.median) << promise.name;
      EXPECT_LE(promise.range.median, promise.range.high) << promise.name;
      if (promise.state == PromiseState::kImpossible) EXPECT_EQ(promise.probability, 0) << promise.name;
    }
    for (const Promise* latency : {&mean, &p99})
      EXPECT_EQ(latency->state == PromiseState::kImpossible, latency->limit < forecast.bound_ms);
    // It is refused if, and only if, something is impossible.
    EXPECT_EQ(forecast.verdict == Verdict::kRefused,
              std::ranges::any_of(forecast.promises, [](const Promise& promise) {
                return promise.state == PromiseState::kImpossible;
              }));
    EXPECT_EQ(forecast.reason.empty(), forecast.verdict == Verdict::kAccepted);
    // An offer is promised when it is requested.
    for (const Offer& offer : forecast.offers) {
      Agreement offered;
      offered.least_probability = kEnough;
      if (offer.name == kLatencyMean) offered.mean_ms = offer.limit;
      if (offer.name == kLatencyP99) offered.p99_ms = offer.limit;
      if (offer.name == kSizeBytes) offered.size_bytes = offer.limit;
      if (offer.name == kAccuracyLoss) offered.accuracy_loss = offer.limit;
      EXPECT_EQ(MakeForecast(offered, made.job_forecast).verdict, Verdict::kAccepted) << offer.name;
    }
  }
}

TEST(AgreementForecastPropertiesTest, AMeasurementRefutesTheBoundAndBeatsTheModel) {
  int measured = 0;
  for (int seed = 0; seed < kSituations; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Situation made = Make(seed);
    if (made.fastest_ms <= 0) continue;
    ++measured;
    EXPECT_LE(made.job_forecast.latency.bound_ms, made.fastest_ms);
    Agreement agreement = {.mean_ms = made.fastest_ms, .least_probability = 0};
    EXPECT_NE(MakeForecast(agreement, made.job_forecast).verdict, Verdict::kRefused);
    const PromiseRange& seen = made.job_forecast.latency.measured;
    const PromiseRange told = MakeForecast(agreement, made.job_forecast).latency_ms;
    EXPECT_GE(told.median, 0.9 * seen.low);
    EXPECT_LE(told.median, 1.1 * seen.high);
    EXPECT_THAT(MakeForecast(agreement, made.job_forecast).promises[0].evidence[0], HasSubstr("measured: "));
  }
  EXPECT_GT(measured, kSituations / 5);
}

TEST(AgreementForecastPropertiesTest, WhatIsSaidOfRunningJobsAgrees) {
  for (int seed = 0; seed < kSituations; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Situation made = Make(seed);
    if (made.job_forecast.quantization.has_value()) continue;
    Draw draw(seed + 1'000'000);
    const AgreementForecast forecast = MakeForecast(made.agreement, made.job_forecast);
    const KeptAgreement kept = {.agreement = made.agreement,
                                .promises = forecast.promises,
                                .latency_ms = forecast.latency_ms,
                                .slowest_ms = forecast.slowest_ms,
                                .bound_ms = forecast.bound_ms};
    // The best kernels so far, which are not faster than the bound.
    const double best = forecast.bound_ms * draw.Between(1, 100);
    const JobToday job = {.kind = "tuning",
                          .state = "running",
                          .agreement = kept.ToText(),
                          .figures = absl::StrCat("{\"latency_ms\": ", best, "}"),
                          .remaining_seconds = draw.Between(0.1, 1000),
                          .now_ms = 10'000};
    std::map<std::string, Promise> now;
    for (const Promise& promise : PromisesOf(job)) now[promise.name] = promise;
    ASSERT_TRUE(now.contains(kLatencyMean) && now.contains(kLatencyP99));
    const Promise &mean = now[kLatencyMean], &p99 = now[kLatencyP99];
    if (mean.state == PromiseState::kImpossible || p99.state == PromiseState::kImpossible) continue;
    for (const double PromiseRange::* level :
         {&PromiseRange::low, &PromiseRange::median, &PromiseRange::high}) {
      EXPECT_GE(p99.range.*level, mean.range.*level * (1 - 1e-9));
      EXPECT_GE(mean.range.*level, forecast.bound_ms * (1 - 1e-5));
    }
  }
}

TEST(AgreementForecastPropertiesTest, ALossIsPromisedIfThereAreSamplesToShowIt) {
  for (int seed = 0; seed < kSituations; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Situation made = Make(seed);
    if (!made.job_forecast.quantization.has_value()) continue;
    const JudgingPlan& plan = made.job_forecast.quantization->plan;
    const double limit = *made.agreement.accuracy_loss;
    const AgreementForecast forecast =
        MakeForecast({.accuracy_loss = limit, .least_probability = 0}, made.job_forecast);
    const std::optional<int64_t> needed = SamplesToShow(limit, plan.variants);
    const bool can_be_shown = needed.has_value() && plan.Judged() >= *needed;
    EXPECT_EQ(forecast.verdict, can_be_shown ? Verdict::kAccepted : Verdict::kRefused);
    EXPECT_EQ(can_be_shown, MostErrors(limit, plan.Judged(), plan.variants) >= 0);
    if (needed.has_value()) EXPECT_THAT(forecast.promises[0].evidence[1], HasSubstr(absl::StrCat(*needed)));
    if (!can_be_shown && needed.has_value())
      EXPECT_THAT(forecast.reason, HasSubstr(absl::StrCat(*needed * 4)));
  }
}

TEST(AgreementForecastPropertiesTest, MoreSamplesPromiseMore) {
  const LogPrediction loss(std::log(0.002), 0.5, 8);
  double before = 0;
  for (const int64_t samples : {100, 1000, 2000, 4000, 20'000}) {
    const double now = ProbabilityToShow(loss, {.samples = samples, .period = 4, .variants = 4}, 0.01);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GT(before, 0.9);
  EXPECT_EQ(ProbabilityToShow(loss, {.samples = 1740, .period = 4, .variants = 4}, 0.01), 0);
}

// A processor without instructions for it gains little from 8-bit integers.
TEST(QuantizationModelTest, TheProcessorTellsTheGain) {
  const QuantizationModel model;
  const auto ratio = [&](double int8) {
    return model.Predict({.peaks = {.gflops_per_core = 100, .int8_gops_per_core = int8}})
        .latency_ratio.Quantile(0.5);
  };
  EXPECT_NEAR(ratio(100), 1, 0.01);
  EXPECT_NEAR(ratio(400), 0.65, 0.01);
  EXPECT_LT(ratio(2800), 0.4);
}

TEST(QuantizationModelTest, EarlierQuantizationsTell) {
  QuantizationModel model;
  const QuantizationQuery query = {.tenant = "ann", .network = "n", .device = "d"};
  const auto loss = [&](const QuantizationQuery& asked) { return model.Predict(asked).loss.Quantile(0.5); };
  const double before = loss(query);
  for (int i = 0; i < 5; ++i)
    model.Add({.job = absl::StrCat(i),
               .tenant = "ann",
               .network = "n",
               .device = "d",
               .latency_ms = 2,
               .latency_ratio = 0.8,
               .loss = 0.001,
               .judged = 1000});
  EXPECT_LT(loss(query), before / 3);
  EXPECT_EQ(model.Predict(query).fastest_ms, 2);
  EXPECT_NEAR(model.Predict(query).latency_ratio.Quantile(0.5), 0.8, 0.05);
  // Others' tell nothing.
  EXPECT_EQ(loss({.tenant = "bob", .network = "n", .device = "d"}), before);
  model.RemoveTenant("ann");
  EXPECT_EQ(loss(query), before);
}

TEST(QuantizationModelTest, AJobTellsOfItsBestVariant) {
  JobRecord job;
  job.spec.id = "q";
  job.spec.kind = "quantization";
  job.spec.owner = "ann";
  job.state = JobState::kDone;
  job.result = R"({"device": "d", "threads": 2, "best": "mse", "variants": [
      {"name": "min-max", "ms": 9, "baseline_ms": 10},
      {"name": "mse", "ms": 4, "baseline_ms": 10, "judged_loss": 0.01, "judged_samples": 300, "network": "n",
       "artifact_bytes": 1000, "weight_bytes": 3000}]})";
  const auto seen = QuantizationOf(job);
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->network, "n");
  EXPECT_EQ(seen->threads, 2);
  EXPECT_DOUBLE_EQ(seen->latency_ratio, 0.4);
  EXPECT_EQ(seen->weight_bytes, 3000);
  for (const char* text : {"", "{}", R"({"variants": 3})", R"({"best": null, "variants": [{}]})",
                           R"({"best": "a", "variants": [7, {"name": "b"}]})"}) {
    job.result = text;
    EXPECT_FALSE(QuantizationOf(job).has_value()) << text;
  }
}

TEST(SizeModelTest, ConstantsAreTheLeastAndWhatItTookCounts) {
  const SizeForecast unknown = PredictSize("n", 961e3, {});
  EXPECT_GE(unknown.bytes.Quantile(0.001), 961e3);
  std::vector<std::shared_ptr<const Observation>> seen = MadeUpObservations(5);
  Observation same = MadeUpObservation(7);
  same.network = "n";
  same.artifact_bytes = 1'136'704;
  same.weight_bytes = 961e3;
  for (int i = 0; i < 3; ++i) seen.push_back(std::make_shared<const Observation>(same));
  const PromiseRange range = PredictSize("n", 961e3, seen).bytes.Range();
  EXPECT_NEAR(range.median, 1'136'704, 10'000);
  EXPECT_LT(range.high / range.low, 1.1);
}

}  // namespace
}  // namespace attune

#include "service/agreement/job_forecast.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status.h"
#include "device/roofline.h"
#include "service/agreement/device_rates.h"
#include "service/agreement/size_model.h"

namespace attune {
namespace {

constexpr double kMillis = 1e3;

NetworkToPredict NetworkOf(const JobToPredict& asked, const Peaks& peaks) {
  const ModelFacts& facts = asked.facts;
  NetworkToPredict network = {
      .network = facts.network, .device = asked.device.info.fingerprint, .threads = asked.threads};
  for (const TaskFacts& task : facts.tasks) {
    constexpr double kAtOnce = 0;
    const double roofline = RooflineOf(task.work, kAtOnce, peaks, asked.threads).seconds;
    network.tasks.push_back({.task = task.digest,
                             .kind = KindOfTask(task.description),
                             .uses = task.uses,
                             .flops = task.work.flops,
                             .bound = std::max(roofline, kLeastTaskSeconds)});
  }
  network.plan = PlanOfSettings(asked.job.settings, network.tasks.size());
  return network;
}

// The cost and gain of a quantization job, and the loss that it can show.
absl::StatusOr<QuantizationForecast> PredictQuantization(const JobToPredict& asked, const Peaks& peaks,
                                                         const QuantizationModel& quantizations) {
  ASSIGN_OR_RETURN(const JudgingPlan plan, PlanOfJudging(asked.job));
  return quantizations.Predict({.tenant = asked.job.tenant,
                                .network = asked.facts.network,
                                .device = asked.device.info.fingerprint,
                                .threads = asked.threads,
                                .peaks = peaks,
                                .weight_bytes = asked.facts.weight_bytes,
                                .plan = plan});
}

}  // namespace

absl::StatusOr<JobForecast> PredictJob(const JobToPredict& asked, Observers observers, KnownAnswers& known,
                                       const QuantizationModel& quantizations) {
  const std::string& tenant = asked.job.tenant;
  const Target& target = asked.device.info.target;
  const ModelFacts& facts = asked.facts;
  Peaks peaks = known.PeaksOf(tenant, asked.device.info.fingerprint, asked.threads);
  JobForecast forecast = {.are_peaks_measured = peaks.gflops_per_core > 0};
  // Rates that were measured beside other work are too low, and would forbid what is possible.
  const Peaks expected = ExpectedPeaks(target);
  const Peaks highest =
      forecast.are_peaks_measured ? WithMargin(BetterOf(peaks, expected)) : HighestPeaks(target);
  if (!forecast.are_peaks_measured) peaks = expected;
  const CacheSizes caches = CachesOf(target);
  NetworkToPredict network = NetworkOf(asked, peaks);
  network.bound_ms = kMillis * facts.BoundSeconds(highest, caches, asked.threads);
  forecast.latency = known.ModelFor(tenant, observers)->Predict(network);
  const auto seen = known.SeenBy(tenant, observers);
  forecast.finish = PredictFinish(network.plan, asked.ahead, asked.device.count, seen, facts.network);
  if (asked.job.kind == "quantization") {
    ASSIGN_OR_RETURN(forecast.quantization, PredictQuantization(asked, peaks, quantizations));
    forecast.latency.bound_ms = kMillis * facts.Quantized().BoundSeconds(highest, caches, asked.threads);
    if (const double fastest = forecast.quantization->fastest_ms; fastest > 0)
      forecast.latency.bound_ms = std::min(forecast.latency.bound_ms, fastest);
    forecast.size_bytes = forecast.quantization->bytes;
    forecast.sizes = forecast.quantization->jobs;
  } else {
    SizeForecast size = PredictSize(facts.network, facts.weight_bytes, seen);
    forecast.size_bytes = std::move(size.bytes);
    forecast.sizes = size.networks;
  }
  return forecast;
}

}  // namespace attune

#include "service/agreement/job_forecast.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/roofline.h"
#include "service/agreement/promises_of_job.h"

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

namespace proto = jobs_service_proto;

// The job's own forecast counts from its first stage on; before that, the prediction for it.
double RemainingOf(const proto::Job& job) {
  constexpr double kUnknown = 30;
  const double usual = job.remaining_seconds() > 0 ? job.remaining_seconds() : kUnknown;
  const absl::StatusOr<KeptAgreement> kept = KeptAgreement::FromText(job.agreement());
  return kept.ok() && kept->finish_seconds > 0 ? std::min(usual, kept->finish_seconds) : usual;
}

// Code, and the manifest.
constexpr double kBeside = 400e3;
constexpr LogPrior kPrior = {.mean = 0, .spread = 0.3, .weight = 2, .degrees = 4};
// Other kernels for the same network.
constexpr LogPrior kAgain = {.mean = 0, .spread = 0.02, .weight = 0.5, .degrees = 4};

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

std::vector<JobAhead> JobsAheadOf(const std::string& tenant, const std::string& key,
                                  std::span<const proto::Job> unfinished, const DeviceDirectory& devices) {
  const std::set<std::string> asked = devices.Meant(tenant, key);
  std::vector<JobAhead> ahead;
  for (const proto::Job& job : unfinished)
    if (!job.on().empty() && devices.Meant(job.owner(), job.on()) == asked)
      ahead.push_back({RemainingOf(job)});
  return ahead;
}

SizeForecast PredictSize(const std::string& network, double weight_bytes,
                         std::span<const std::shared_ptr<const Observation>> observations) {
  SizeForecast forecast;
  std::vector<double> log_ratios, weights, log_sizes;
  double least = 1;  // of the constants' bytes
  for (const auto& seen : observations) {
    if (seen->artifact_bytes <= 0 || seen->weight_bytes <= 0) continue;
    least = std::min(least, seen->artifact_bytes / seen->weight_bytes);
    log_ratios.push_back(std::log(seen->artifact_bytes / (seen->weight_bytes + kBeside)));
    const double difference = std::log((seen->weight_bytes + kBeside) / (weight_bytes + kBeside));
    weights.push_back(std::exp(-difference * difference / 2));
    if (seen->network == network) log_sizes.push_back(std::log(seen->artifact_bytes));
  }
  forecast.networks = static_cast<int>(log_ratios.size());
  if (log_sizes.empty()) {
    forecast.bytes = PredictNext(weight_bytes + kBeside, kPrior, log_ratios, weights);
  } else {
    std::ranges::sort(log_sizes);
    const double middle = log_sizes[log_sizes.size() / 2];
    for (double& log_size : log_sizes) log_size -= middle;
    forecast.bytes =
        PredictNext(std::exp(middle), kAgain, log_sizes, std::vector<double>(log_sizes.size(), 1));
  }
  forecast.bytes = forecast.bytes.AtLeast(least * weight_bytes);
  return forecast;
}

}  // namespace attune

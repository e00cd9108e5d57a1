#include "service/agreement/quantization_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json_at.h"
#include "base/json_object.h"
#include "kinds/loss_judgement.h"

namespace attune {
namespace {

using Json = nlohmann::json;

// The losses of the networks of docs/quantization.md with all layers in int8, and without the layers that
// lose much: shares of samples with another result.
constexpr double kLossOfInt8 = 0.025, kLossOfMixed = 0.003;
constexpr LogPrior kLoss = {.mean = 0, .spread = 1.5, .weight = 2, .degrees = 4};

// A network in integers takes the share of its time in f32 that the processor's rates say to this power,
// since much of its work multiplies nothing.
constexpr double kOfRates = 0.31;
constexpr LogPrior kRatio = {.mean = 0, .spread = 0.3, .weight = 2, .degrees = 4};

// Constants of a quarter of the bytes; code, scales and the manifest.
constexpr double kNarrower = 0.25, kBeside = 400e3;
constexpr double kNarrowest = 0.125;  // indices of 16 values
constexpr LogPrior kSize = {.mean = 0, .spread = 0.4, .weight = 2, .degrees = 4};

// Other networks, and other devices, tell less.
constexpr double kOtherNetwork = 0.3, kOtherDevice = 0.2;

// Log ratios of what was seen to estimates, each with its weight.
struct Evidence {
  std::vector<double> log_ratios = {}, weights = {};

  void Add(double seen, double estimate, double weight) {
    log_ratios.push_back(std::log(seen / estimate));
    weights.push_back(weight);
  }
  LogPrediction Next(double estimate, const LogPrior& prior) const {
    return PredictNext(estimate, prior, log_ratios, weights);
  }
};

// Losses that are equally probable.
std::vector<double> PointsOf(const LogPrediction& loss) {
  constexpr int kPoints = 40;
  std::vector<double> points;
  for (int i = 0; i < kPoints; ++i) points.push_back(std::min(1.0, loss.Quantile((i + 0.5) / kPoints)));
  return points;
}

double ProbabilityAmong(const std::vector<double>& losses, const JudgingPlan& plan, double limit) {
  const int64_t samples = plan.Judged(), most = MostErrors(limit, samples, plan.variants);
  double sum = 0;
  for (const double loss : losses) sum += ProbabilityOfErrors(most, samples, loss);
  return sum / static_cast<double>(losses.size());
}

}  // namespace

std::optional<Quantization> QuantizationOf(const JobRecord& job) {
  if (job.state != JobState::kDone || job.spec.kind != "quantization") return std::nullopt;
  const absl::StatusOr<Json> result = ParseJsonObject<Json>(job.result);
  if (!result.ok() || !result->contains("variants") || !(*result)["variants"].is_array()) return std::nullopt;
  const std::string best = TextAt(*result, "/best");
  const Json& variants = (*result)["variants"];
  const auto found = std::ranges::find_if(
      variants, [&](const Json& variant) { return !best.empty() && TextAt(variant, "/name") == best; });
  if (found == variants.end()) return std::nullopt;
  const double ms = NumberAt(*found, "/ms"), baseline = NumberAt(*found, "/baseline_ms");
  const double loss = NumberAt(*found, "/judged_loss");
  Quantization seen = {.job = job.spec.id,
                       .tenant = job.spec.owner,
                       .network = TextAt(*found, "/network"),
                       .device = TextAt(*result, "/device"),
                       .threads = static_cast<int>(std::clamp(NumberAt(*result, "/threads"), 1.0, 1024.0)),
                       .latency_ms = std::max(0.0, ms),
                       .latency_ratio = ms > 0 && baseline > 0 ? ms / baseline : 0,
                       .loss = std::clamp(loss, 0.0, 1.0),
                       .judged = std::max(0.0, NumberAt(*found, "/judged_samples")),
                       .artifact_bytes = std::max(0.0, NumberAt(*found, "/artifact_bytes")),
                       .weight_bytes = std::max(0.0, NumberAt(*found, "/weight_bytes"))};
  return seen;
}

void QuantizationModel::Add(Quantization quantization) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Quantization>& all = of_tenant_[quantization.tenant];
  if (std::ranges::find(all, quantization.job, &Quantization::job) != all.end()) return;
  constexpr size_t kMost = 1000;
  if (all.size() == kMost) all.erase(all.begin());
  all.push_back(std::move(quantization));
}

void QuantizationModel::RemoveTenant(const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  of_tenant_.erase(tenant);
}

QuantizationForecast QuantizationModel::Predict(const QuantizationQuery& query) const {
  const double rates = query.peaks.gflops_per_core > 0
                           ? std::max(1.0, query.peaks.int8_gops_per_core / query.peaks.gflops_per_core)
                           : 1;
  const double ratio = std::pow(rates, -kOfRates);
  const double loss = query.plan.is_mixed ? kLossOfMixed : kLossOfInt8;
  const double size = kNarrower * query.weight_bytes + kBeside;
  Evidence ratios, losses, sizes;
  QuantizationForecast forecast = {.plan = query.plan};
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = of_tenant_.find(query.tenant); found != of_tenant_.end()) {
    for (const Quantization& seen : found->second) {
      const bool is_same = !seen.network.empty() && seen.network == query.network;
      const double weight = is_same ? 1 : kOtherNetwork;
      const bool is_here = seen.device == query.device && seen.threads == query.threads;
      if (seen.latency_ratio > 0)
        ratios.Add(seen.latency_ratio, ratio, weight * (is_here ? 1 : kOtherDevice));
      // Without an error among n, the loss is about that of half an error.
      if (seen.judged > 0) losses.Add(std::max(seen.loss, 0.5 / seen.judged), loss, weight);
      if (seen.artifact_bytes > 0 && seen.weight_bytes > 0)
        sizes.Add(seen.artifact_bytes, kNarrower * seen.weight_bytes + kBeside, weight);
      const bool is_faster = forecast.fastest_ms <= 0 || seen.latency_ms < forecast.fastest_ms;
      if (is_same && is_here && seen.latency_ms > 0 && is_faster) forecast.fastest_ms = seen.latency_ms;
      ++forecast.jobs;
    }
  }
  forecast.latency_ratio = ratios.Next(ratio, kRatio);
  forecast.loss = losses.Next(loss, kLoss);
  forecast.bytes = sizes.Next(size, kSize).AtLeast(kNarrowest * query.weight_bytes);
  return forecast;
}

double ProbabilityToShow(const LogPrediction& loss, const JudgingPlan& plan, double limit) {
  return ProbabilityAmong(PointsOf(loss), plan, limit);
}

double OfferedLoss(const LogPrediction& loss, const JudgingPlan& plan, double probability) {
  const std::vector<double> losses = PointsOf(loss);
  double low = 0, high = 1;
  constexpr int kSteps = 24;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (ProbabilityAmong(losses, plan, middle) < probability ? low : high) = middle;
  }
  return high;
}

}  // namespace attune

#include "service/agreement/size_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attune {
namespace {

// Code, and the manifest.
constexpr double kBeside = 400e3;
constexpr LogPrior kPrior = {.mean = 0, .spread = 0.3, .weight = 2, .degrees = 4};
// Other kernels for the same network.
constexpr LogPrior kAgain = {.mean = 0, .spread = 0.02, .weight = 0.5, .degrees = 4};

}  // namespace

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

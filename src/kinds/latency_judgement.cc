#include "kinds/latency_judgement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace attune {
namespace {

constexpr double kSlowest = 0.01;  // the share of runs beyond the 99 % quantile
constexpr double kTail = 0.025;    // on each side of an interval of 95 %

// The quantile of 97.5 % of Student's t with one degree of freedom less than there are batches.
constexpr int kBatches = 20;
constexpr double kStudent = 2.093;

double MeanOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

JudgedValue Mean(std::span<const double> runs) {
  JudgedValue mean = {.value = MeanOf(runs)};
  if (runs.size() < kBatches) return mean;
  double squares = 0;
  const size_t length = runs.size() / kBatches;
  for (size_t batch = 0; batch < kBatches; ++batch) {
    const double difference = MeanOf(runs.subspan(batch * length, length)) - mean.value;
    squares += difference * difference;
  }
  const double half = kStudent * std::sqrt(squares / (kBatches - 1) / kBatches);
  mean.low = std::max(0.0, mean.value - half);
  mean.high = mean.value + half;
  return mean;
}

// The probability that exactly `k` of `n` runs are beyond the quantile.
double ProbabilityOf(int64_t k, int64_t n) {
  const auto count = static_cast<double>(n), beyond = static_cast<double>(k);
  return std::exp(std::lgamma(count + 1) - std::lgamma(beyond + 1) - std::lgamma(count - beyond + 1) +
                  beyond * std::log(kSlowest) + (count - beyond) * std::log1p(-kSlowest));
}

// The value with k greater ones is below the quantile with the probability that at most k runs are beyond it.
JudgedValue P99(std::vector<double> runs) {
  std::ranges::sort(runs, std::greater<>());
  const auto n = std::ssize(runs);
  const auto nearest = static_cast<int64_t>(std::ceil(kSlowest * static_cast<double>(n))) - 1;
  JudgedValue p99 = {.value = runs[static_cast<size_t>(std::max<int64_t>(nearest, 0))]};
  double at_most = 0;
  for (int64_t k = 0; k < n; ++k) {
    at_most += ProbabilityOf(k, n);
    if (at_most <= kTail) p99.high = runs[static_cast<size_t>(k)];
    if (at_most < 1 - kTail) continue;
    p99.low = runs[static_cast<size_t>(k)];
    break;
  }
  return p99;
}

nlohmann::ordered_json ToJson(const JudgedValue& judged) {
  nlohmann::ordered_json json = {judged.value, judged.low, nullptr};
  if (std::isfinite(judged.high)) json[2] = judged.high;
  return json;
}

}  // namespace

LatencyJudgement JudgeLatency(std::span<const double> milliseconds) {
  return {.runs = std::ssize(milliseconds),
          .mean = Mean(milliseconds),
          .p99 = P99({milliseconds.begin(), milliseconds.end()})};
}

nlohmann::ordered_json ToJson(const LatencyJudgement& judgement) {
  return {{"runs", judgement.runs}, {"mean_ms", ToJson(judgement.mean)}, {"p99_ms", ToJson(judgement.p99)}};
}

}  // namespace attune

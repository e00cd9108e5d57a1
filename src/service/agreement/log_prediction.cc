#include "service/agreement/log_prediction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace attune {
namespace {

// The continued fraction of the incomplete beta function by Lentz's method (Press et al.: Numerical recipes,
// 3rd ed., section 6.4).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kPrecision = 1e-14;
  constexpr int kMostTerms = 1000;
  const auto nonzero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / nonzero(1 + term * d);
      c = nonzero(1 + term / c);
      change = c * d;
      fraction *= change;
    }
    if (std::abs(change - 1) < kPrecision) break;
  }
  return fraction;
}

// The regularized incomplete beta function.
double IncompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, 1 - x) / b;
}

}  // namespace

double StudentCdf(double t, double degrees) {
  // Each of the two forms is exact where the other one loses digits.
  const double square = t * t, sum = degrees + square;
  const double tail = square < degrees ? 0.5 - IncompleteBeta(0.5, degrees / 2, square / sum) / 2
                                       : IncompleteBeta(degrees / 2, 0.5, degrees / sum) / 2;
  return t > 0 ? 1 - tail : tail;
}

double LogPrediction::LogProbability(double log_limit) const {
  double probability = 0, weight = 0;
  for (const Part& part : parts_) {
    const double t = (log_limit - part.location) / part.scale;
    const double of_part =
        std::isinf(part.degrees) ? std::erfc(-t / std::numbers::sqrt2) / 2 : StudentCdf(t, part.degrees);
    probability += part.weight * of_part;
    weight += part.weight;
  }
  return probability / weight;
}

double LogPrediction::AboveFloor(double log_limit) const {
  if (floor_ <= 0) return LogProbability(log_limit);
  const double log_floor = std::log(floor_);
  if (log_limit < log_floor) return 0;
  // If nothing is believed to be so large, the floor itself is left.
  constexpr double kNothing = 1e-9;
  const double below = LogProbability(log_floor);
  if (1 - below < kNothing) return 1;
  return (LogProbability(log_limit) - below) / (1 - below);
}

double LogPrediction::Probability(double limit) const {
  if (limit <= 0) return 0;
  double sum = 0;
  for (const double factor : factors_) sum += AboveFloor(std::log(limit / factor));
  return sum / static_cast<double>(factors_.size());
}

double LogPrediction::Quantile(double p) const {
  const auto [first, last] = std::ranges::minmax(parts_, {}, &Part::location);
  const auto at = [&](double log_limit) { return Probability(std::exp(log_limit)); };
  double low = first.location - 1, high = last.location + 1;
  while (at(low) > p) low -= high - low;
  while (at(high) < p) high += high - low;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (at(middle) < p ? low : high) = middle;
  }
  return std::max(std::exp((low + high) / 2), floor_ * *std::ranges::min_element(factors_));
}

LogPrediction LogPrediction::Times(double factor) const {
  LogPrediction other = *this;
  for (Part& part : other.parts_) part.location += std::log(factor);
  other.floor_ *= factor;
  return other;
}

LogPrediction LogPrediction::TimesAnyOf(std::vector<double> factors) const {
  LogPrediction other = *this;
  other.factors_ = std::move(factors);
  return other;
}

LogPrediction LogPrediction::Widened(double spread) const {
  LogPrediction other = *this;
  for (Part& part : other.parts_) part.scale = std::hypot(part.scale, spread);
  return other;
}

LogPrediction LogPrediction::AtLeast(double floor) const {
  LogPrediction other = *this;
  other.floor_ = floor;
  return other;
}

double LogPrediction::Spread() const {
  constexpr double kTenth = 1.2815515655;  // the normal distribution's quantile of 90 %
  return std::log(Quantile(0.9) / Quantile(0.1)) / (2 * kTenth);
}

LogPrediction PredictNext(double estimate, const LogPrior& prior, std::span<const double> log_ratios,
                          std::span<const double> weights, double scale) {
  const double log_estimate = std::log(estimate);
  std::vector<LogPrediction::Part> parts = {{.weight = prior.weight,
                                             .location = log_estimate + scale * prior.mean,
                                             .scale = scale * prior.spread * std::sqrt(1 + 1 / prior.weight),
                                             .degrees = prior.degrees}};
  double count = 0, squares = 0, sum = 0;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    count += weights[i];
    squares += weights[i] * weights[i];
    sum += weights[i] * log_ratios[i];
  }
  // An observation without weight changes nothing.
  constexpr double kLeast = 1e-9;
  if (count < kLeast) return LogPrediction(std::move(parts));
  double deviations = 0;
  for (size_t i = 0; i < log_ratios.size(); ++i)
    deviations += weights[i] * std::abs(log_ratios[i] - sum / count);
  // Less moved by outliers than the root of squares; the same for a normal distribution.
  const double seen = deviations / count * std::sqrt(std::numbers::pi / 2);
  const double spread = (prior.weight * prior.spread + count * seen) / (prior.weight + count);
  const double bandwidth = 0.9 * spread * std::pow(count * count / squares, -0.2);
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    if (weights[i] <= 0) continue;
    parts.push_back({.weight = weights[i],
                     .location = log_estimate + scale * log_ratios[i],
                     .scale = scale * bandwidth,
                     .degrees = std::numeric_limits<double>::infinity()});
  }
  return LogPrediction(std::move(parts));
}

}  // namespace attune

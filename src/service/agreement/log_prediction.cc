#include "service/agreement/log_prediction.h"

#include <cmath>
#include <cstddef>

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

double StudentQuantile(double p, double degrees) {
  double low = -1, high = 1;
  while (StudentCdf(low, degrees) > p) low *= 2;
  while (StudentCdf(high, degrees) < p) high *= 2;
  constexpr int kSteps = 80;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (StudentCdf(middle, degrees) < p ? low : high) = middle;
  }
  return (low + high) / 2;
}

double LogPrediction::Probability(double limit) const {
  if (limit <= 0) return 0;
  return StudentCdf((std::log(limit) - location_) / scale_, degrees_);
}

double LogPrediction::Quantile(double p) const {
  return std::exp(location_ + scale_ * StudentQuantile(p, degrees_));
}

LogPrediction LogPrediction::Times(double factor) const {
  return {location_ + std::log(factor), scale_, degrees_};
}

LogPrediction LogPrediction::Widened(double spread) const {
  return {location_, std::hypot(scale_, spread), degrees_};
}

LogPrediction PredictNext(double estimate, const LogPrior& prior, std::span<const double> log_ratios,
                          std::span<const double> weights, double scale) {
  double count = 0, sum = 0;
  for (size_t i = 0; i < log_ratios.size(); ++i) {
    count += weights[i];
    sum += weights[i] * log_ratios[i];
  }
  const double mean = count > 0 ? sum / count : prior.mean;
  double squares = 0;
  for (size_t i = 0; i < log_ratios.size(); ++i)
    squares += weights[i] * (log_ratios[i] - mean) * (log_ratios[i] - mean);
  const double believed = prior.weight + count;
  const double location = (prior.weight * prior.mean + sum) / believed;
  const double degrees = prior.degrees + count;
  const double deviation = prior.mean - mean;
  const double variance = (prior.degrees * prior.spread * prior.spread + squares +
                           prior.weight * count / believed * deviation * deviation) /
                          degrees;
  const double spread = std::sqrt(variance * (1 + 1 / believed));
  return {std::log(estimate) + scale * location, scale * spread, degrees};
}

}  // namespace attune

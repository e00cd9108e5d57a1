#include "kinds/loss_judgement.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kTail = 0.05;

double ConfidenceAmong(int variants) { return 1 - kTail / std::max(variants, 1); }

}  // namespace

double ProbabilityOfErrors(int64_t most, int64_t samples, double share) {
  if (most < 0) return 0;
  if (most >= samples || share <= 0) return 1;
  if (share >= 1) return 0;
  const auto n = static_cast<double>(samples);
  double sum = 0;
  for (int64_t errors = 0; errors <= most; ++errors) {
    const auto k = static_cast<double>(errors);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(share) +
                    (n - k) * std::log1p(-share));
  }
  return std::min(sum, 1.0);
}

// By halving: the share at which so few would be seen with the probability that is left.
double UpperShare(double seen, double samples, double confidence) {
  if (samples <= 0 || seen >= samples) return 1;
  const auto errors = static_cast<int64_t>(seen), all = static_cast<int64_t>(samples);
  double low = seen / samples, high = 1;
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (ProbabilityOfErrors(errors, all, middle) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

double UpperLoss(double loss, double samples, int variants) {
  constexpr double kRounding = 1e-9;
  return UpperShare(std::ceil(loss * samples - kRounding), samples, ConfidenceAmong(variants));
}

std::optional<int64_t> SamplesToShow(double most, int variants) {
  if (most <= 0) return std::nullopt;
  if (most >= 1) return 1;
  // None of n errs with the probability (1 - share)^n.
  const double samples = std::log(1 - ConfidenceAmong(variants)) / std::log1p(-most);
  constexpr double kRounding = 1e-9;
  return static_cast<int64_t>(std::ceil(samples - kRounding));
}

// By halving, since the upper end grows with the errors.
int64_t MostErrors(double most, int64_t samples, int variants) {
  int64_t shown = -1, not_shown = samples + 1;
  const auto shows = [&](int64_t errors) {
    return UpperShare(static_cast<double>(errors), static_cast<double>(samples), ConfidenceAmong(variants)) <=
           most;
  };
  while (not_shown - shown > 1) {
    const int64_t middle = shown + (not_shown - shown) / 2;
    (shows(middle) ? shown : not_shown) = middle;
  }
  return shown;
}

}  // namespace attune

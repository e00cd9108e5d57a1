// Predicts positive quantities from few observations of the same kind.
//
// Problem: latencies and durations vary by factors, and at first nothing was seen. Idea: the logarithm of
// real to estimated values is normal with an unknown mean and variance, about which a conjugate prior says
// what some observations would; the prediction of the next one is Student's t (Gelman et al.: Bayesian data
// analysis, 3rd ed., section 3.3). So an interval is the prior's where there is no evidence, narrows with
// each observation, and gets wider again where estimates turn out wrong. Cost: one spread for all that is
// compared, which the caller may scale.
#ifndef ATTUNE_SERVICE_AGREEMENT_LOG_PREDICTION_H_
#define ATTUNE_SERVICE_AGREEMENT_LOG_PREDICTION_H_

#include <span>

#include "service/agreement/promise.h"

namespace attune {

// The probability that Student's t with these degrees of freedom (above 0) is at most `t`.
double StudentCdf(double t, double degrees);
// The value that it is below with probability p, 0 < p < 1.
double StudentQuantile(double p, double degrees);

// The distribution of a positive quantity.
class LogPrediction {
 public:
  LogPrediction() = default;
  // exp(location + scale · t), t having the degrees of freedom. `scale` > 0.
  LogPrediction(double location, double scale, double degrees)
      : location_(location), scale_(scale), degrees_(degrees) {}

  // That the quantity is at most `limit`.
  double Probability(double limit) const;
  double Quantile(double p) const;
  // Quantiles of 10, 50 and 90 percent.
  PromiseRange Range() const { return {Quantile(0.1), Quantile(0.5), Quantile(0.9)}; }
  // The same quantity times a factor.
  LogPrediction Times(double factor) const;
  // The same, with a further independent error of this spread in the logarithm.
  LogPrediction Widened(double spread) const;

  double location() const { return location_; }
  double scale() const { return scale_; }

 private:
  double location_ = 0, scale_ = 1, degrees_ = 1;
};

// What is believed of log ratios before any was seen: a mean and spread, as if from so many observations.
struct LogPrior {
  double mean = 0, spread = 1;
  double weight = 2;   // of the mean
  double degrees = 4;  // of the spread
};

// The prediction of the next log ratio, times `scale` (how uncertain it is compared with the observed ones,
// which the caller has divided by theirs), around log(estimate). `weights` of observations: 0 to 1, how much
// each counts.
LogPrediction PredictNext(double estimate, const LogPrior& prior, std::span<const double> log_ratios,
                          std::span<const double> weights, double scale = 1);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_LOG_PREDICTION_H_

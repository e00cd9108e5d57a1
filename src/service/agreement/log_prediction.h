// Predicts positive quantities from few observations of the same kind.
//
// Problem: latencies and durations vary by factors, at first nothing was seen, and the errors of estimates
// have long tails, which a spread would blow up. Idea: what comes next is one of the log ratios of real to
// estimated values that were seen, or else what a prior says, which counts as some of them (a Dirichlet
// process: Ferguson, A Bayesian analysis of some nonparametric problems, 1973); each ratio stands for its
// surroundings (kernel density: Silverman, Density estimation, 1986, section 3.4). So an interval is the
// prior's where there is no evidence, narrows with each observation, and holds as many of the next ones as of
// those that were seen. Cost: time in proportion to the observations.
#ifndef ATTUNE_SERVICE_AGREEMENT_LOG_PREDICTION_H_
#define ATTUNE_SERVICE_AGREEMENT_LOG_PREDICTION_H_

#include <span>
#include <utility>
#include <vector>

#include "service/agreement/promise.h"

namespace attune {

// The probability that Student's t with these degrees of freedom (above 0) is at most `t`.
double StudentCdf(double t, double degrees);

// The distribution of a positive quantity. All that is told of it belongs to that one distribution: a larger
// limit is never less probable, and nothing lies below the floor.
class LogPrediction {
 public:
  // exp(location + scale · t), t having the degrees of freedom of Student's t; infinitely many: it is normal.
  struct Part {
    double weight = 1;
    double location = 0, scale = 1;  // scale > 0
    double degrees = 1;
  };

  LogPrediction() = default;
  LogPrediction(double location, double scale, double degrees)
      : parts_({{.location = location, .scale = scale, .degrees = degrees}}) {}
  // Each of them with a probability in proportion to its weight.
  explicit LogPrediction(std::vector<Part> parts) : parts_(std::move(parts)) {}

  // The probability that the quantity is at most `limit`.
  double Probability(double limit) const;
  // 0 < p < 1.
  double Quantile(double p) const;
  // Quantiles of 10, 50 and 90 percent.
  PromiseRange Range() const { return {Quantile(0.1), Quantile(0.5), Quantile(0.9)}; }
  // The same quantity times a factor.
  LogPrediction Times(double factor) const;
  // The same quantity times one of the factors, each as probable. With factors of at least 1, no quantile is
  // below that of the quantity itself.
  LogPrediction TimesAnyOf(std::vector<double> factors) const;
  // The same, with a further independent error of this spread in the logarithm.
  LogPrediction Widened(double spread) const;
  // The same, given that the quantity, before TimesAnyOf(), is at least the floor; instead of an earlier one.
  LogPrediction AtLeast(double floor) const;
  // Returns the standard deviation of the normal distribution of the logarithm that has the same interval.
  double Spread() const;

 private:
  // Both of the parts, the latter given the floor.
  double LogProbability(double log_limit) const;
  double AboveFloor(double log_limit) const;

  std::vector<Part> parts_ = {{}};
  double floor_ = 0;  // 0: none
  std::vector<double> factors_ = {1};
};

// The prior of log ratios, weighted like this many observations: Student's t.
struct LogPrior {
  double mean = 0, spread = 1;
  double weight = 2;
  double degrees = 4;
};

// The prediction of the next log ratio, times `scale` (how uncertain it is compared with the observed ones,
// which the caller has divided by theirs), around log(estimate). `weights` of observations: 0 to 1, how much
// each counts.
LogPrediction PredictNext(double estimate, const LogPrior& prior, std::span<const double> log_ratios,
                          std::span<const double> weights, double scale = 1);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_LOG_PREDICTION_H_

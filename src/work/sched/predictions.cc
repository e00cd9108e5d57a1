#include "work/sched/predictions.h"

#include <vector>

#include "base/quantile.h"

namespace attune {
namespace {

// The ratios that are remembered for a label, and the least number that says anything.
constexpr size_t kRemembered = 64, kEnough = 5;

// The time that ratios are relative to. One that nothing takes is none, and would make them infinite.
double UnitOf(const SecondsPrediction& own) {
  constexpr double kLeastSeconds = 1e-9;
  return own.median >= kLeastSeconds ? own.median : 1;
}

}  // namespace

SecondsPrediction StagePredictions::Predict(std::span<const std::string> labels,
                                            const SecondsPrediction& own) const {
  for (const std::string& label : labels) {
    const auto found = ratios_.find(label);
    if (found == ratios_.end() || found->second.size() < kEnough) continue;
    const std::vector<double> ratios(found->second.begin(), found->second.end());
    const double unit = UnitOf(own);
    return {unit * QuantileOf(ratios, 0.1), unit * QuantileOf(ratios, 0.5), unit * QuantileOf(ratios, 0.9)};
  }
  return own;
}

void StagePredictions::Add(std::span<const std::string> labels, const SecondsPrediction& own,
                           double seconds) {
  const SecondsPrediction predicted = Predict(labels, own);
  ++num_predicted_;
  num_within_ += predicted.low <= seconds && seconds <= predicted.high;
  for (const std::string& label : labels) {
    std::deque<double>& ratios = ratios_[label];
    ratios.push_back(seconds / UnitOf(own));
    if (ratios.size() > kRemembered) ratios.pop_front();
  }
}

}  // namespace attune

#include "tune/job/stage_times.h"

#include <cmath>

#include "base/quantile.h"

namespace attune {
namespace {

// The assumed seconds per item before any stage of that kind has run, in the order of StageKind. The last
// ones are for whole networks.
constexpr std::array<double, kNumStageKinds> kFirstGuess = {0.5, 0.5, 0.01, 0.05, 0.02, 0.2, 0.01, 0.1,
                                                            2.0, 2.0, 5.0,  2.0,  5.0,  2.0, 12.0, 0.01};
// The factor by which the first guess may be too large or too small.
constexpr double kGuessFactor = 3;

}  // namespace

void StageTimes::Add(StageKind kind, double seconds, int64_t items) {
  OfKind& of = kinds_[static_cast<size_t>(kind)];
  of.seconds += seconds;
  of.items += items;
  if (items > 0) of.of_item.push_back(seconds / static_cast<double>(items));
  total_ += seconds;
}

double StageTimes::SecondsOfItem(StageKind kind) const {
  const OfKind& of = Of(kind);
  return of.items == 0 ? kFirstGuess[static_cast<size_t>(kind)] : of.seconds / static_cast<double>(of.items);
}

SecondsPrediction StageTimes::Predict(StageKind kind, int64_t items) const {
  const auto count = static_cast<double>(items);
  const OfKind& of = Of(kind);
  if (of.of_item.empty()) {
    const double guess = count * kFirstGuess[static_cast<size_t>(kind)];
    return {guess / kGuessFactor, guess, guess * kGuessFactor};
  }
  // A few stages tell less about the next one than many.
  const double doubt = std::pow(kGuessFactor, 1 / static_cast<double>(of.of_item.size()));
  return {count * QuantileOf(of.of_item, 0.1) / doubt, count * QuantileOf(of.of_item, 0.5),
          count * QuantileOf(of.of_item, 0.9) * doubt};
}

std::map<std::string, double> StageTimes::BySumOfKind() const {
  std::map<std::string, double> sums;
  for (size_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i].items > 0) sums[std::string(Name(static_cast<StageKind>(i)))] = kinds_[i].seconds;
  }
  return sums;
}

}  // namespace attune

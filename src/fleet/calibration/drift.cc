#include "fleet/calibration/drift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/quantile.h"

namespace attune {
namespace {

// The relative change from `usual` to `now`; 0 if the device has no such rate.
double Change(double usual, double now) { return usual > 0 ? now / usual - 1 : 0; }

double Median(std::span<const Peaks> peaks, double Peaks::* rate) {
  std::vector<double> values;
  for (const Peaks& one : peaks) values.push_back(one.*rate);
  return QuantileOf(std::move(values), 0.5);
}

// -1 if `value` is lower than these usual rates, 1 if it is higher, and 0 if it is neither.
int SideOf(std::span<const Peaks> usual, double Peaks::* rate, double value) {
  std::vector<double> values;
  for (const Peaks& one : usual) values.push_back(one.*rate);
  std::ranges::sort(values);
  // Without the lowest and the highest one, which may be an outlier.
  const double low = values[1], high = values[values.size() - 2];
  const double scatter = kDriftScatter * (high - low);
  if (value < (1 - kDriftTolerance) * low - scatter) return -1;
  return value > (1 + kDriftTolerance) * high + scatter ? 1 : 0;
}

// The rate that has changed most among those that are off from `usual` both `earlier` and `now`, on the same
// side.
std::optional<Drift> Farthest(std::span<const Peaks> usual, const Peaks& earlier, const Peaks& now) {
  std::optional<Drift> farthest;
  double most = 0;
  for (const PeakRate& rate : PeakRates()) {
    const int side = SideOf(usual, rate.rate, now.*rate.rate);
    if (side == 0 || side != SideOf(usual, rate.rate, earlier.*rate.rate)) continue;
    const double median = Median(usual, rate.rate), change = std::abs(Change(median, now.*rate.rate));
    if (change <= most) continue;
    most = change;
    farthest = Drift{.rate = &rate, .usual = median, .now = now.*rate.rate};
  }
  return farthest;
}

}  // namespace

std::span<const PeakRate> PeakRates() {
  static constexpr std::array<PeakRate, 6> kRates = {{
      {"f32", "Gop/s", &Peaks::gflops_per_core},
      {"bf16", "Gop/s", &Peaks::bf16_gflops_per_core},
      {"int8", "Gop/s", &Peaks::int8_gops_per_core},
      {"L2", "GB/s", &Peaks::l2_gb_per_s},
      {"L3", "GB/s", &Peaks::l3_gb_per_s},
      {"memory", "GB/s", &Peaks::memory_gb_per_s},
  }};
  return kRates;
}

Peaks MedianPeaks(std::span<const Peaks> peaks) {
  Peaks median;
  for (const PeakRate& rate : PeakRates()) median.*rate.rate = Median(peaks, rate.rate);
  return median;
}

std::string Drift::Text() const {
  const double change = Change(usual, now);
  return absl::StrFormat("%.0f %% %s than usual at %s (%.1f instead of %.1f %s per core)",
                         100 * std::abs(change), change < 0 ? "slower" : "faster", rate->name, now, usual,
                         rate->unit);
}

std::optional<Drift> FindDrift(std::span<const Peaks> calibrations) {
  constexpr size_t kInARow = 2;
  if (calibrations.size() < kBaselineCalibrations + kInARow) return std::nullopt;
  const auto before = calibrations.first(calibrations.size() - kInARow);
  const auto usual = before.last(std::min(before.size(), kUsualCalibrations));
  if (auto step = Farthest(usual, calibrations.end()[-2], calibrations.back())) return step;
  if (calibrations.size() < kBaselineCalibrations + kUsualCalibrations) return std::nullopt;
  const Peaks now = MedianPeaks(calibrations.last(kUsualCalibrations));
  return Farthest(calibrations.first(kBaselineCalibrations), now, now);
}

}  // namespace attune

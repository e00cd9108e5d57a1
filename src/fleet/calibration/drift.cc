#include "fleet/calibration/drift.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/quantile.h"

namespace attune {
namespace {

// The relative change from `usual` to `now`; 0 if the device has no such rate.
double Change(double usual, double now) { return usual > 0 ? now / usual - 1 : 0; }

// The rate that has changed most among those that are off in both; `earlier` is a calibration before `now`.
std::optional<Drift> Farthest(const Peaks& usual, const Peaks& earlier, const Peaks& now) {
  std::optional<Drift> farthest;
  double most = kDriftTolerance;
  for (const PeakRate& rate : PeakRates()) {
    const double before = Change(usual.*rate.rate, earlier.*rate.rate);
    const double change = Change(usual.*rate.rate, now.*rate.rate);
    const bool is_twice = std::abs(before) > kDriftTolerance && before * change > 0;
    if (!is_twice || std::abs(change) <= most) continue;
    most = std::abs(change);
    farthest = Drift{.rate = &rate, .usual = usual.*rate.rate, .now = now.*rate.rate};
  }
  return farthest;
}

}  // namespace

std::span<const PeakRate> PeakRates() {
  static constexpr std::array<PeakRate, 6> kRates = {{
      {"f32 multiply-adds", "Gop/s per core", &Peaks::gflops_per_core},
      {"bf16 multiply-adds", "Gop/s per core", &Peaks::bf16_gflops_per_core},
      {"int8 multiply-adds", "Gop/s per core", &Peaks::int8_gops_per_core},
      {"reading from L2", "GB/s per core", &Peaks::l2_gb_per_s},
      {"reading from L3", "GB/s per core", &Peaks::l3_gb_per_s},
      {"reading from memory", "GB/s per core", &Peaks::memory_gb_per_s},
  }};
  return kRates;
}

Peaks MedianPeaks(std::span<const Peaks> peaks) {
  Peaks median;
  for (const PeakRate& rate : PeakRates()) {
    std::vector<double> values;
    for (const Peaks& one : peaks) values.push_back(one.*rate.rate);
    median.*rate.rate = QuantileOf(std::move(values), 0.5);
  }
  return median;
}

std::string Drift::Text() const {
  const double change = Change(usual, now);
  return absl::StrFormat("%.0f %% %s than usual at %s (%.1f instead of %.1f %s)", 100 * std::abs(change),
                         change < 0 ? "slower" : "faster", rate->name, now, usual, rate->unit);
}

std::optional<Drift> FindDrift(std::span<const Peaks> calibrations) {
  constexpr size_t kInARow = 2;
  if (calibrations.size() < kFewestToCompare + kInARow) return std::nullopt;
  const auto before = calibrations.first(calibrations.size() - kInARow);
  const Peaks usual = MedianPeaks(before.last(std::min(before.size(), kUsualCalibrations)));
  if (auto step = Farthest(usual, calibrations.end()[-2], calibrations.back())) return step;
  if (calibrations.size() < kBaselineCalibrations + kUsualCalibrations) return std::nullopt;
  const Peaks baseline = MedianPeaks(calibrations.first(kBaselineCalibrations));
  const Peaks now = MedianPeaks(calibrations.last(kUsualCalibrations));
  return Farthest(baseline, now, now);
}

}  // namespace attune

#include "cli/calibrations_view.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/live_text.h"
#include "fleet/calibration/drift.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr int kMostShown = 10;

Peaks PeaksOf(const proto::Calibration& calibration) {
  const auto measurement = DecodeMeasurement(calibration.measurement());
  return measurement.ok() ? measurement->peaks : Peaks();
}

std::vector<Peaks> PeaksOf(const proto::CalibrationState& state) {
  std::vector<Peaks> peaks;
  for (const proto::Calibration& calibration : state.calibrations()) peaks.push_back(PeaksOf(calibration));
  return peaks;
}

}  // namespace

std::string CalibrationsTable(const proto::CalibrationState& state) {
  if (state.calibrations().empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"calibrated"}};
  std::vector<bool> right = {false};
  for (const PeakRate& rate : PeakRates()) {
    rows[0].push_back(absl::StrCat(rate.name, ", ", rate.unit));
    right.push_back(true);
  }
  for (int i = std::max(0, state.calibrations_size() - kMostShown); i < state.calibrations_size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(FormatTime(state.calibrations(i).time_ms()));
    const Peaks peaks = PeaksOf(state.calibrations(i));
    for (const PeakRate& rate : PeakRates()) row.push_back(absl::StrFormat("%.1f", peaks.*rate.rate));
  }
  return FormatTable(rows, right);
}

std::string LatestCalibrationTable(const proto::CalibrationState& state) {
  const std::vector<Peaks> all = PeaksOf(state);
  const auto before = std::span(all).first(all.size() - 1);
  const Peaks usual = MedianPeaks(before.last(std::min(before.size(), kUsualCalibrations)));
  std::vector<std::vector<std::string>> rows = {{"rate", "now", "usual", "change", ""}};
  for (const PeakRate& rate : PeakRates()) {
    const double now = all.back().*rate.rate, was = usual.*rate.rate;
    rows.push_back({rate.name, absl::StrFormat("%.1f", now), was > 0 ? absl::StrFormat("%.1f", was) : "–",
                    was > 0 ? absl::StrFormat("%+.1f %%", 100 * (now / was - 1)) : "–",
                    absl::StrCat(rate.unit, " per core")});
  }
  return FormatTable(rows, {false, true, true, true, false});
}

Json CalibrationsJson(const proto::CalibrationState& state) {
  Json list = Json::array();
  for (const proto::Calibration& calibration : state.calibrations()) {
    const Peaks peaks = PeaksOf(calibration);
    list.push_back({{"time_ms", calibration.time_ms()},
                    {"gflops_per_core", peaks.gflops_per_core},
                    {"bf16_gflops_per_core", peaks.bf16_gflops_per_core},
                    {"int8_gops_per_core", peaks.int8_gops_per_core},
                    {"l2_gb_per_s", peaks.l2_gb_per_s},
                    {"l3_gb_per_s", peaks.l3_gb_per_s},
                    {"memory_gb_per_s", peaks.memory_gb_per_s}});
  }
  return list;
}

}  // namespace attune

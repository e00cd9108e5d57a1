#include "cli/fleet_view.h"

#include <algorithm>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "cli/live_text.h"
#include "device/codec.h"
#include "device/contention.h"
#include "fleet/calibration/drift.h"
#include "fleet/leases/device_owners.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

// "free", "held by alice", "drained: too hot", "away", "free, warning".
std::string StateOf(const proto::Device& device) {
  std::string state = !device.is_there()         ? "away"
                      : device.held_by().empty() ? "free"
                                                 : absl::StrCat("held by ", device.held_by());
  if (!device.drained().empty()) absl::StrAppend(&state, ", drained: ", device.drained());
  if (!device.warning().empty()) absl::StrAppend(&state, ", warning");
  if (device.is_there() && device.disturbance() >= kDisturbedShare)
    absl::StrAppendFormat(&state, ", disturbed: others use %.0f %% of it", 100 * device.disturbance());
  return WithoutControls(state);
}

// "bob, eve", "all", or "nobody".
std::string SharedWith(const proto::Device& device) {
  if (device.shared_with().empty()) return "nobody";
  const bool has_all = std::ranges::find(device.shared_with(), kEveryOwner) != device.shared_with().end();
  return has_all ? "all" : WithoutControls(absl::StrJoin(device.shared_with(), ", "));
}

// The keys besides the id.
std::vector<std::string> KeysOf(const proto::Device& device) {
  std::vector<std::string> keys;
  for (const std::string& key : device.keys())
    if (key != device.id()) keys.push_back(WithoutControls(key));
  return keys;
}

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

Json DevicesJson(const std::vector<proto::Device>& devices) {
  Json list = Json::array();
  for (const proto::Device& device : devices) {
    Json entry = {{"id", device.id()},           {"owner", device.owner()},
                  {"keys", KeysOf(device)},      {"is_there", device.is_there()},
                  {"held_by", device.held_by()}, {"drained", device.drained()},
                  {"load", device.load()},       {"program", device.program()},
                  {"warning", device.warning()}};
    entry["shared_with"] = std::vector<std::string>(device.shared_with().begin(), device.shared_with().end());
    entry["disturbance"] = device.disturbance();
    entry["lacks"] = std::vector<std::string>(device.lacks().begin(), device.lacks().end());
    entry["sensors"] = std::vector<std::string>(device.sensors().begin(), device.sensors().end());
    if (const auto info = DecodeDevice(device.info()); info.ok()) {
      entry["fingerprint"] = info->fingerprint;
      entry["target"] = info->target.name;
      entry["processors"] = info->usable;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string DevicesTable(const std::vector<proto::Device>& devices) {
  std::vector<std::vector<std::string>> rows = {
      {"device", "owner", "shared with", "state", "processors", "load", "keys"}};
  for (const proto::Device& device : devices) {
    const auto info = DecodeDevice(device.info());
    rows.push_back({WithoutControls(device.id()), WithoutControls(device.owner()), SharedWith(device),
                    StateOf(device), info.ok() ? absl::StrCat(info->usable.size()) : "?",
                    device.is_there() ? absl::StrFormat("%.2f", device.load()) : "",
                    absl::StrJoin(KeysOf(device), " ")});
  }
  return FormatTable(rows, {false, false, false, false, true, true, false});
}

std::string DeviceText(const proto::Device& device) {
  const auto info = DecodeDevice(device.info());
  std::vector<std::vector<std::string>> rows = {{"device", WithoutControls(device.id())},
                                                {"owner", WithoutControls(device.owner())},
                                                {"shared with", SharedWith(device)},
                                                {"state", StateOf(device)},
                                                {"keys", absl::StrJoin(KeysOf(device), " ")}};
  if (info.ok()) {
    rows.push_back({"target", info->target.name});
    rows.push_back({"processors", absl::StrJoin(info->usable, " ")});
  }
  if (device.is_there()) {
    rows.push_back({"load", absl::StrFormat("%.2f runnable threads per processor", device.load())});
    rows.push_back({"program", WithoutControls(device.program())});
    rows.push_back({"sensors", device.sensors().empty()
                                   ? "none that its agent may read"
                                   : WithoutControls(absl::StrJoin(device.sensors(), ", "))});
  }
  if (!device.warning().empty()) rows.push_back({"warning", WithoutControls(device.warning())});
  for (const std::string& lack : device.lacks()) rows.push_back({"lacks", WithoutControls(lack)});
  return FormatTable(rows, {false, false});
}

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

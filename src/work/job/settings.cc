#include "work/job/settings.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kMostSeconds = 1e7;

bool IsSeconds(double seconds) { return seconds > 0 && seconds <= kMostSeconds; }

}  // namespace

std::optional<double> ParseSeconds(const std::string& text) {
  absl::Duration duration;
  double seconds = 0;
  if (absl::ParseDuration(text, &duration)) {
    seconds = absl::ToDoubleSeconds(duration);
  } else if (!absl::SimpleAtod(text, &seconds)) {
    return std::nullopt;
  }
  return IsSeconds(seconds) ? std::optional(seconds) : std::nullopt;
}

std::optional<SecondsPrediction> PredictionOfJson(const nlohmann::json& value, double most) {
  const auto is_time = [&](const nlohmann::json& time) {
    return time.is_number() && time.get<double>() >= 0 && time.get<double>() <= most;
  };
  if (is_time(value)) {
    const double seconds = value.get<double>();
    return SecondsPrediction{seconds, seconds, seconds};
  }
  constexpr size_t kQuantiles = 3;
  if (!value.is_array() || value.size() != kQuantiles || !std::ranges::all_of(value, is_time) ||
      !std::ranges::is_sorted(value))
    return std::nullopt;
  return SecondsPrediction{value[0].get<double>(), value[1].get<double>(), value[2].get<double>()};
}

SettingsReader::SettingsReader(const nlohmann::json& settings, std::string base)
    : settings_(settings), base_(std::move(base)) {
  if (!settings.is_object() && !settings.is_null()) status_ = InvalidInput("settings are not a mapping");
}

void SettingsReader::Fail(std::string_view key, std::string_view what) {
  if (status_.ok()) status_ = InvalidInput(key, ": ", what);
}

const nlohmann::json* SettingsReader::Find(std::string_view key, bool needed) {
  known_.emplace(key);
  if (!status_.ok()) return nullptr;
  if (settings_.is_object()) {
    const auto found = settings_.find(std::string(key));
    if (found != settings_.end() && !found->is_null()) return &*found;
  }
  if (needed) Fail(key, "is missing");
  return nullptr;
}

void SettingsReader::Read(std::string_view key, std::string& to, bool needed) {
  const nlohmann::json* value = Find(key, needed);
  if (value == nullptr) return;
  if (!value->is_string()) return Fail(key, "is not a text");
  to = value->get<std::string>();
  if (needed && to.empty()) Fail(key, "is empty");
}

void SettingsReader::Read(std::string_view key, bool& to) {
  const nlohmann::json* value = Find(key, false);
  if (value == nullptr) return;
  if (!value->is_boolean()) return Fail(key, "is neither true nor false");
  to = value->get<bool>();
}

void SettingsReader::Read(std::string_view key, int64_t& to, int64_t least, int64_t most) {
  const nlohmann::json* value = Find(key, false);
  if (value == nullptr) return;
  const std::optional<int64_t> number = WholeNumber(*value, least, most);
  if (!number.has_value()) return Fail(key, absl::StrCat("is not a whole number from ", least, " to ", most));
  to = *number;
}

void SettingsReader::Read(std::string_view key, int& to, int least, int most) {
  int64_t value = to;
  Read(key, value, int64_t{least}, int64_t{most});
  to = static_cast<int>(value);
}

void SettingsReader::Read(std::string_view key, double& to, double least, double most) {
  const nlohmann::json* value = Find(key, false);
  if (value == nullptr) return;
  if (!value->is_number() || !(value->get<double>() >= least && value->get<double>() <= most))
    return Fail(key, absl::StrCat("is not a number from ", least, " to ", most));
  to = value->get<double>();
}

void SettingsReader::Read(std::string_view key, std::vector<std::string>& to) {
  const nlohmann::json* value = Find(key, false);
  if (value == nullptr) return;
  const nlohmann::json list = value->is_array() ? *value : nlohmann::json::array({*value});
  if (!std::ranges::all_of(list, [](const nlohmann::json& text) { return text.is_string(); }))
    return Fail(key, "is not a list of texts");
  to = list.get<std::vector<std::string>>();
}

void SettingsReader::ReadOneOf(std::string_view key, std::string& to, const std::vector<std::string>& texts) {
  Read(key, to);
  if (status_.ok() && std::ranges::find(texts, to) == texts.end())
    Fail(key, absl::StrCat("\"", Printable(to), "\" is none of ", absl::StrJoin(texts, ", ")));
}

void SettingsReader::ReadSeconds(std::string_view key, double& to) {
  const nlohmann::json* value = Find(key, false);
  if (value == nullptr) return;
  std::optional<double> seconds;
  if (value->is_string()) seconds = ParseSeconds(value->get<std::string>());
  if (value->is_number() && IsSeconds(value->get<double>())) seconds = value->get<double>();
  if (!seconds.has_value()) return Fail(key, "is not a time like 90s, 5m or 1h30m");
  to = *seconds;
}

void SettingsReader::ReadPath(std::string_view key, std::string& to, bool needed) {
  std::string path;
  Read(key, path, needed);
  if (!path.empty()) to = FromBase(path);
}

void SettingsReader::ReadPaths(std::string_view key, std::vector<std::string>& to) {
  std::vector<std::string> paths;
  Read(key, paths);
  for (const std::string& path : paths) {
    if (path.empty()) return Fail(key, "has an empty name");
    to.push_back(FromBase(path));
  }
}

std::string SettingsReader::FromBase(const std::string& path) const {
  return (std::filesystem::path(base_) / path).lexically_normal().string();
}

std::vector<nlohmann::json> SettingsReader::ReadObjects(std::string_view key, bool needed) {
  const nlohmann::json* value = Find(key, needed);
  if (value == nullptr) return {};
  if (!value->is_array() ||
      !std::ranges::all_of(*value, [](const auto& object) { return object.is_object(); })) {
    Fail(key, "is not a list of mappings");
    return {};
  }
  return value->get<std::vector<nlohmann::json>>();
}

nlohmann::json SettingsReader::ReadJson(std::string_view key) {
  const nlohmann::json* value = Find(key, false);
  return value == nullptr ? nlohmann::json() : *value;
}

absl::Status SettingsReader::Finish() {
  if (!settings_.is_object()) return status_;
  for (const auto& [key, value] : settings_.items()) {
    if (!known_.contains(key))
      Fail(Printable(key), absl::StrCat("is not a setting; there are ", absl::StrJoin(known_, ", ")));
  }
  return status_;
}

}  // namespace attune

#include "device/sensors.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "device/first_line.h"

namespace attune {
namespace {

// Sensors of one kind: the folders of a class of devices, and the files in each.
struct SensorKind {
  std::string_view kind;
  const char* folder;       // of the class
  std::string_view prefix;  // of its devices' folders
  const char* name;         // the file with a device's name; null: all have one name
  const char* value;        // the file with a number
};
constexpr SensorKind kSensorKinds[] = {
    {"energy", "/class/powercap", "intel-rapl", "name", "energy_uj"},
    {"frequency", "/devices/system/cpu/cpufreq", "policy", nullptr, "scaling_cur_freq"},
    {"temperature", "/class/thermal", "thermal_zone", "type", "temp"},
};

void AddSensors(const std::string& folder, const SensorKind& kind, std::set<std::string>& names) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder + kind.folder, error), end; entry != end;
       entry.increment(error)) {
    if (error) return;
    const std::filesystem::path device = entry->path();
    int64_t value = 0;
    if (!device.filename().string().starts_with(kind.prefix) ||
        !absl::SimpleAtoi(FirstLine(device / kind.value), &value))
      continue;
    const std::string name =
        kind.name == nullptr ? "" : absl::StrCat(" ", WithoutControls(FirstLine(device / kind.name)));
    names.insert(std::string(absl::StripAsciiWhitespace(absl::StrCat(kind.kind, name))));
  }
}

}  // namespace

std::vector<std::string> ReadableSensors(const std::string& folder) {
  std::set<std::string> names;
  for (const SensorKind& kind : kSensorKinds) AddSensors(folder, kind, names);
  return {names.begin(), names.end()};
}

}  // namespace attune

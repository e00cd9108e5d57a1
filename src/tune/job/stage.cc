#include "tune/job/stage.h"

#include <algorithm>
#include <array>

namespace attune {
namespace {

enum class DeviceUse : uint8_t { kNone, kShared, kExclusive };

struct StageInfo {
  std::string_view name;
  DeviceUse device = DeviceUse::kNone;
};

// In the order of StageKind.
constexpr std::array<StageInfo, kNumStageKinds> kStages = {{
    {"prepare"},
    {"calibrate", DeviceUse::kExclusive},
    {"select"},
    {"build"},
    {"check", DeviceUse::kShared},
    {"time", DeviceUse::kExclusive},
    {"learn"},
    {"confirm_build", DeviceUse::kShared},  // what is built is checked
    {"confirm_time", DeviceUse::kExclusive},
    {"compare_build", DeviceUse::kShared},
    {"compare_time", DeviceUse::kExclusive},
    {"layout_build", DeviceUse::kShared},
    {"layout_time", DeviceUse::kExclusive},
    {"network_build", DeviceUse::kShared},
    {"network_time", DeviceUse::kExclusive},
    {"finish"},
}};

}  // namespace

std::string_view Name(StageKind kind) { return kStages[static_cast<size_t>(kind)].name; }

bool NeedsDevice(StageKind kind) {
  return kStages[static_cast<size_t>(kind)].device == DeviceUse::kExclusive;
}

bool WaitsForDevice(std::string_view name) {
  const auto* const stage = std::ranges::find(kStages, name, &StageInfo::name);
  return stage != kStages.end() && stage->device != DeviceUse::kNone;
}

}  // namespace attune

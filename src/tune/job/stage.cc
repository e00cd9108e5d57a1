#include "tune/job/stage.h"

#include <array>

namespace attune {
namespace {

struct StageInfo {
  std::string_view name;
  bool needs_device = false;
};

// In the order of StageKind.
constexpr std::array<StageInfo, kNumStageKinds> kStages = {{
    {"prepare"},
    {"calibrate", true},
    {"select"},
    {"build"},
    {"check"},
    {"time", true},
    {"learn"},
    {"confirm_build"},
    {"confirm_time", true},
    {"compare_build"},
    {"compare_time", true},
    {"layout_build"},
    {"layout_time", true},
    {"network_build"},
    {"network_time", true},
    {"finish"},
}};

}  // namespace

std::string_view Name(StageKind kind) { return kStages[static_cast<size_t>(kind)].name; }

bool NeedsDevice(StageKind kind) { return kStages[static_cast<size_t>(kind)].needs_device; }

}  // namespace attune

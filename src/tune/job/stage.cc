#include "tune/job/stage.h"

#include <array>

namespace attune {

std::string_view Name(StageKind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"prepare", "select", "build",
                                                      "measure", "update", "finalize"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace attune

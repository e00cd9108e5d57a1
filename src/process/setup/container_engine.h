// Podman or docker, as a program that is asked.
#ifndef ATTUNE_PROCESS_SETUP_CONTAINER_ENGINE_H_
#define ATTUNE_PROCESS_SETUP_CONTAINER_ENGINE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/process/command.h"
#include "process/setup/installation.h"

namespace attune {

// The name of the engine to use: `chosen`, podman or docker, or the first of them that is there for "auto".
// NotFound if it is not on the PATH.
absl::StatusOr<std::string> FindContainerEngine(const std::string& chosen);

inline constexpr CommandLimits kEngineLimits = {.seconds = 180};

// Runs the installation's engine with the arguments. Returns what it prints.
absl::StatusOr<std::string> AskEngine(const Installation& installation, std::vector<std::string> arguments,
                                      const CommandStreams& streams = {},
                                      const CommandLimits& limits = kEngineLimits);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_CONTAINER_ENGINE_H_

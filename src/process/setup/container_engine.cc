#include "process/setup/container_engine.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<std::string> FindContainerEngine(const std::string& chosen) {
  const bool is_any = chosen == "auto";
  for (const char* engine : {"podman", "docker"}) {
    if (!is_any && chosen != engine) continue;
    const absl::Status status = RunCommand({engine, "--version"}).status();
    if (status.ok()) return engine;
    if (!absl::IsNotFound(status)) return status;
  }
  return absl::NotFoundError(
      absl::StrCat(is_any ? "neither podman nor docker" : chosen, is_any ? " is" : " is not",
                   " on the PATH; install it, or leave --containers out to run processes"));
}

absl::StatusOr<std::string> AskEngine(const Installation& installation, std::vector<std::string> arguments,
                                      const CommandStreams& streams, const CommandLimits& limits) {
  arguments.insert(arguments.begin(), installation.engine);
  return RunCommand(arguments, limits, streams);
}

}  // namespace attune

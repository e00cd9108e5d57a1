#include "fleet/identity/member_folders.h"

#include <cstdlib>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/user_path.h"

namespace attune {
namespace {

absl::StatusOr<std::string> StateFolder(const char* variable, const char* name,
                                        const char* flag = "--state") {
  std::optional<std::string> folder = FindUserPath(
      {.variable = variable, .xdg_variable = "XDG_STATE_HOME", .home_folder = ".local/state", .name = name},
      getenv);
  if (!folder) return InvalidInput("neither $", variable, " nor $HOME is set; name a folder with ", flag);
  return *std::move(folder);
}

}  // namespace

absl::StatusOr<std::string> DefaultServerFolder() { return StateFolder("ATTUNE_SERVER", "attune/server"); }
absl::StatusOr<std::string> DefaultAgentFolder() { return StateFolder("ATTUNE_AGENT", "attune/agent"); }
absl::StatusOr<std::string> DefaultRunnerFolder() { return StateFolder("ATTUNE_RUNNER", "attune/runner"); }
absl::StatusOr<std::string> DefaultSlurmFolder() {
  return StateFolder("ATTUNE_SLURM", "attune/slurm", "--spool");
}

}  // namespace attune

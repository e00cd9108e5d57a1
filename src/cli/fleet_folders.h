// The folders of a fleet's members on this machine.
#ifndef ATTUNE_CLI_FLEET_FOLDERS_H_
#define ATTUNE_CLI_FLEET_FOLDERS_H_

#include <string>

#include "absl/status/statusor.h"

namespace attune {

// $ATTUNE_SERVER, else attune/server in $XDG_STATE_HOME, else in ~/.local/state. Fails if HOME is missing
// too.
absl::StatusOr<std::string> DefaultServerFolder();
// Likewise $ATTUNE_AGENT and attune/agent.
absl::StatusOr<std::string> DefaultAgentFolder();
// Likewise $ATTUNE_RUNNER and attune/runner.
absl::StatusOr<std::string> DefaultRunnerFolder();
// Likewise $ATTUNE_SLURM and attune/slurm.
absl::StatusOr<std::string> DefaultSlurmFolder();

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_FOLDERS_H_

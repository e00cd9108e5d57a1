// The folders of a fleet's members on this machine.
#ifndef ATTUNE_FLEET_IDENTITY_MEMBER_FOLDERS_H_
#define ATTUNE_FLEET_IDENTITY_MEMBER_FOLDERS_H_

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

// The folder, in that of the server's state, with the credentials of an operator: a user who can read the
// server's state can do all that an operator can.
inline std::string OperatorFolder(const std::string& server_folder) { return server_folder + "/operator"; }

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_MEMBER_FOLDERS_H_

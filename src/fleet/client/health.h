// Whether the services of a fleet on this machine do their work, for those who watch over them.
//
// Each function returns one line about it, or fails with the reason. They change nothing.
#ifndef ATTUNE_FLEET_CLIENT_HEALTH_H_
#define ATTUNE_FLEET_CLIENT_HEALTH_H_

#include <string>

#include "absl/status/statusor.h"

namespace attune {

// Asks a server at `address`, the "host:port" of its metrics, whether it is ready.
absl::StatusOr<std::string> ServerHealth(const std::string& address);

// Asks the server of the agent whose state is in `folder`, with the agent's credentials, whether the agent is
// connected: an agent listens nowhere.
absl::StatusOr<std::string> AgentHealth(const std::string& folder);

// Asks the same address whether a runner is connected to the server.
absl::StatusOr<std::string> RunnerHealth(const std::string& address);

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_HEALTH_H_

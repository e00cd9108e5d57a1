// The services of an installation in containers: made, looked at, and removed by the engine that it names.
#ifndef ATTUNE_PROCESS_SETUP_CONTAINERS_H_
#define ATTUNE_PROCESS_SETUP_CONTAINERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "process/setup/installation.h"
#include "process/setup/supervised_service.h"

namespace attune {

// Fails, with what to do, if the engine lacks an image.
absl::Status CheckImages(const Installation& installation);
// Makes the network and the volumes that are missing.
absl::Status MakeNetworkAndVolumes(const Installation& installation);
// The text of the first token; empty if there has been a token before.
absl::StatusOr<std::string> MakeFirstTokenInContainer(const Installation& installation);
absl::Status StartServerContainer(const Installation& installation);
// The agents and the runner, which need a server that answers.
absl::Status StartMemberContainers(const Installation& installation);

// The services as the engine knows them, the server first; empty if none of them is there.
absl::StatusOr<std::vector<ServiceState>> ContainerStates(const Installation& installation);
// One line about an agent, or the reason why it does not work.
absl::StatusOr<std::string> AgentContainerHealth(const Installation& installation,
                                                 const std::string& service);
// "; it printed: …", the last lines of a service.
std::string EndOfContainerLog(const Installation& installation, const std::string& service);

// Ends the containers, the server last, and removes them and their network. False if none ran.
absl::StatusOr<bool> RemoveContainers(const Installation& installation);
// The containers that exist.
absl::StatusOr<std::vector<std::string>> ListVolumes(const Installation& installation);
// Removes the volumes; none of them may be in use.
absl::Status RemoveVolumes(const Installation& installation, const std::vector<std::string>& volumes);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_CONTAINERS_H_

// How podman and docker are told to run the services of an installation: their arguments, which both
// understand.
//
// Each service has a container and a volume of its own, which is /state in it. The containers share a network
// that nothing else is on, and only what people use is published, on the loopback. They run as the images'
// user, without capabilities, on a root that cannot be written. Names begin with the installation's prefix,
// and everything carries it as a label, by which it is found again.
#ifndef ATTUNE_PROCESS_SETUP_CONTAINER_PLAN_H_
#define ATTUNE_PROCESS_SETUP_CONTAINER_PLAN_H_

#include <string>
#include <vector>

#include "process/setup/installation.h"
#include "process/setup/processor_shares.h"

namespace attune {

// Stands for compiler, agent or server in the name of an image.
inline constexpr char kImagePlaceholder[] = "{}";

// The images that `./do images` makes, as the engine names them once they are loaded.
std::string UsualImages(const std::string& engine, const std::string& version);

// "attune-1f2e3d4c", another one for each folder.
std::string ContainerPrefix(const Installation& installation);
// The name of a service's container and volume: "attune-1f2e3d4c-server".
std::string ContainerName(const Installation& installation, const std::string& service);
// "server", "agent-1", …, "runner": each after those that it needs.
std::vector<std::string> ContainerServices(const Installation& installation);
std::vector<std::string> ContainerImages(const Installation& installation);
std::vector<std::string> ContainerVolumes(const Installation& installation);

// "label=attune.up=attune-1f2e3d4c", for --filter; --label takes it without the first word.
std::string ContainerFilter(const Installation& installation);
std::vector<std::string> NetworkArguments(const Installation& installation);
std::vector<std::string> VolumeArguments(const Installation& installation, const std::string& volume);

// Prints the text of the first token if there is none yet. Needs no server.
std::vector<std::string> FirstTokenArguments(const Installation& installation);
std::vector<std::string> ServerArguments(const Installation& installation);
// Leaves an invitation in a member's volume unless it has credentials. Needs the server.
std::vector<std::string> InviteArguments(const Installation& installation, const std::string& service);
std::vector<std::string> MemberArguments(const Installation& installation, const std::string& service,
                                         const ProcessorShares& shares);
// A container that does nothing, for a restored state to be put into the server's volume.
std::vector<std::string> RestoreArguments(const Installation& installation);

// Folders in the containers.
std::string StateInContainer(const std::string& service);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_CONTAINER_PLAN_H_

// The flag --on: commands that measure do it on a device of the fleet.
#ifndef ATTUNE_CLI_ON_DEVICE_H_
#define ATTUNE_CLI_ON_DEVICE_H_

#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "fleet/client/fleet_client.h"
#include "measure/service.h"

namespace attune {

void AddOnFlag(CLI::App& command, std::string& key);

// The fleet that this user has joined, or whose server he runs on this machine. Fails if there is none.
absl::StatusOr<std::shared_ptr<FleetClient>> JoinedFleet();
// Measures on the devices with this key.
absl::StatusOr<std::shared_ptr<MeasuringService>> MeasuringOn(const std::string& key);

}  // namespace attune

#endif  // ATTUNE_CLI_ON_DEVICE_H_

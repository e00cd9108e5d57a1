// The fleet that this user has joined, or whose server runs on this machine under the user's account.
#ifndef ATTUNE_FLEET_CLIENT_JOINED_FLEET_H_
#define ATTUNE_FLEET_CLIENT_JOINED_FLEET_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "fleet/client/fleet_client.h"
#include "fleet/identity/credentials.h"
#include "measure/service.h"

namespace attune {

// All fail, with the way out, if there is no such fleet.
absl::StatusOr<FleetCredentials> JoinedCredentials();
absl::StatusOr<std::shared_ptr<FleetClient>> JoinedFleet();
// Measures on the devices with this key; null if the key means this machine (device/device_key.h). The
// fleet's server must have the address `server`, "host:port", unless that is empty.
absl::StatusOr<std::shared_ptr<MeasuringService>> MeasuringOn(const std::string& key,
                                                              const std::string& server = {});

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_JOINED_FLEET_H_

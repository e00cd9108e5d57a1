// Devices of the fleet that this user has joined.
#ifndef ATTUNE_API_FLEET_DEVICE_H_
#define ATTUNE_API_FLEET_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "measure/service.h"

namespace attune {

// Returns a service that measures on the fleet's devices with this key. The fleet's server must have the
// address `server`, "host:port", unless that is empty. Fails, with the way out, if there is no such fleet or
// device.
absl::StatusOr<std::shared_ptr<MeasuringService>> OpenFleetDevice(const std::string& key,
                                                                  const std::string& server = {});

}  // namespace attune

#endif  // ATTUNE_API_FLEET_DEVICE_H_

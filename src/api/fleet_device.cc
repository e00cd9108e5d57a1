#include "api/fleet_device.h"

#include "fleet/client/joined_fleet.h"

namespace attune {

absl::StatusOr<std::shared_ptr<MeasuringService>> OpenFleetDevice(const std::string& key,
                                                                  const std::string& server) {
  return MeasuringOn(key, server);
}

}  // namespace attune

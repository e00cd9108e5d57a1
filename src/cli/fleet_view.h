// Shows the devices of a fleet.
#ifndef ATTUNE_CLI_FLEET_VIEW_H_
#define ATTUNE_CLI_FLEET_VIEW_H_

#include <string>
#include <vector>

#include "cli/common/output.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

Json DevicesJson(const std::vector<fleet_proto::Device>& devices);
// A line for each device.
std::string DevicesTable(const std::vector<fleet_proto::Device>& devices);
// All that is known of one.
std::string DeviceText(const fleet_proto::Device& device);

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_VIEW_H_

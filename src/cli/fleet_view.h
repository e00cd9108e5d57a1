// Shows the devices of a fleet and their calibrations.
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

// The latest calibrations, oldest first, a line each. Empty if there are none.
std::string CalibrationsTable(const fleet_proto::CalibrationState& state);
// The latest one beside what is usual for the device, a line for each rate. There must be one.
std::string LatestCalibrationTable(const fleet_proto::CalibrationState& state);
Json CalibrationsJson(const fleet_proto::CalibrationState& state);

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_VIEW_H_

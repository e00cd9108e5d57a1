// Shows the calibrations of a fleet's device.
#ifndef ATTUNE_CLI_CALIBRATIONS_VIEW_H_
#define ATTUNE_CLI_CALIBRATIONS_VIEW_H_

#include <string>

#include "cli/common/output.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

// The latest calibrations, oldest first, a line each. Empty if there are none.
std::string CalibrationsTable(const fleet_proto::CalibrationState& state);
// The latest one beside what is usual for the device, a line for each rate. There must be one.
std::string LatestCalibrationTable(const fleet_proto::CalibrationState& state);
Json CalibrationsJson(const fleet_proto::CalibrationState& state);

}  // namespace attune

#endif  // ATTUNE_CLI_CALIBRATIONS_VIEW_H_

// attune fleet calibrate
#ifndef ATTUNE_CLI_FLEET_CALIBRATE_H_
#define ATTUNE_CLI_FLEET_CALIBRATE_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddFleetCalibrateCommand(CLI::App& fleet, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_CALIBRATE_H_

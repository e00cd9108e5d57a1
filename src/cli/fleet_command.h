// The subcommands of attune fleet.
#ifndef ATTUNE_CLI_FLEET_COMMAND_H_
#define ATTUNE_CLI_FLEET_COMMAND_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddFleetAuthorityCommand(CLI::App& fleet, Action& action);
void AddFleetCalibrateCommand(CLI::App& fleet, Action& action);
void AddFleetTopCommand(CLI::App& fleet, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_COMMAND_H_

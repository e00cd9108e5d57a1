// attune fleet authority
#ifndef ATTUNE_CLI_FLEET_AUTHORITY_H_
#define ATTUNE_CLI_FLEET_AUTHORITY_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddFleetAuthorityCommand(CLI::App& fleet, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_AUTHORITY_H_

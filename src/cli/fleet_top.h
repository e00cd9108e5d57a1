// attune fleet top
#ifndef ATTUNE_CLI_FLEET_TOP_H_
#define ATTUNE_CLI_FLEET_TOP_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddFleetTopCommand(CLI::App& fleet, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_FLEET_TOP_H_

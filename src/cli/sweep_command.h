// The subcommands of attune sweep.
#ifndef ATTUNE_CLI_SWEEP_COMMAND_H_
#define ATTUNE_CLI_SWEEP_COMMAND_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddSweepCompareCommand(CLI::App& sweep, Action& action);
void AddSweepPlotCommand(CLI::App& sweep, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_SWEEP_COMMAND_H_

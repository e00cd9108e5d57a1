// The commands of attune-server.
#ifndef ATTUNE_PROCESS_COMMANDS_COMMAND_H_
#define ATTUNE_PROCESS_COMMANDS_COMMAND_H_

#include "CLI/CLI.hpp"
#include "cli/common/program.h"

namespace attune {

void AddServerCommand(CLI::App& app, Action& action);
void AddBackupCommands(CLI::App& app, Action& action);  // backup, restore
void AddUpCommand(CLI::App& app, Action& action);
void AddDownCommand(CLI::App& app, Action& action);

}  // namespace attune

#endif  // ATTUNE_PROCESS_COMMANDS_COMMAND_H_

// The commands of the program attune-server, which this program starts with the same words.
#ifndef ATTUNE_CLI_SERVER_COMMANDS_H_
#define ATTUNE_CLI_SERVER_COMMANDS_H_

#include "CLI/CLI.hpp"
#include "cli/common/program.h"

namespace attune {

// Lists the commands in the help of this program.
void AddServerCommands(CLI::App& app, Action& action);

// If the first word of the command line is one of them, becomes attune-server, which is found beside this
// program or else in PATH. Returns for all other command lines, and if there is no attune-server.
void BecomeServerProgram(int argc, char** argv);

}  // namespace attune

#endif  // ATTUNE_CLI_SERVER_COMMANDS_H_

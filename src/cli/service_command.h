// Commands that run until somebody ends them.
#ifndef ATTUNE_CLI_SERVICE_COMMAND_H_
#define ATTUNE_CLI_SERVICE_COMMAND_H_

#include "CLI/CLI.hpp"

namespace attune {

// Logs what happens unless the user has chosen a level: a service prints nothing else.
void LogToPeople(const CLI::App& command);

// Returns on Ctrl-C or SIGTERM.
void AwaitStop();

}  // namespace attune

#endif  // ATTUNE_CLI_SERVICE_COMMAND_H_

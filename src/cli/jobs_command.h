// The subcommands of attune jobs.
#ifndef ATTUNE_CLI_JOBS_COMMAND_H_
#define ATTUNE_CLI_JOBS_COMMAND_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddJobsRunCommand(CLI::App& jobs, Action& action);
void AddJobsSimulateCommand(CLI::App& jobs, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_JOBS_COMMAND_H_

// The subcommands of attune jobs.
#ifndef ATTUNE_CLI_JOBS_COMMAND_H_
#define ATTUNE_CLI_JOBS_COMMAND_H_

#include "CLI/CLI.hpp"
#include "cli/command.h"

namespace attune {

void AddJobsRunCommand(CLI::App& jobs, Action& action);
void AddJobsSimulateCommand(CLI::App& jobs, Action& action);

// Subcommands for a server that runs jobs.
void AddJobsSubmitCommand(CLI::App& jobs, Action& action);
void AddJobsPredictCommand(CLI::App& jobs, Action& action);
void AddJobsListCommand(CLI::App& jobs, Action& action);
void AddJobsShowCommand(CLI::App& jobs, Action& action);
void AddJobsLogsCommand(CLI::App& jobs, Action& action);
void AddJobsCancelCommand(CLI::App& jobs, Action& action);
void AddJobsResultCommand(CLI::App& jobs, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_JOBS_COMMAND_H_

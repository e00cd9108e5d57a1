// The commands. Each Add function describes one subcommand's flags; parsing the command line sets `action`
// to the requested action, which the caller then runs once.
#ifndef ATTUNE_CLI_COMMAND_H_
#define ATTUNE_CLI_COMMAND_H_

#include "CLI/CLI.hpp"
#include "cli/common/program.h"

namespace attune {

void AddCompileCommand(CLI::App& app, Action& action);
void AddRunCommand(CLI::App& app, Action& action);
void AddVerifyCommand(CLI::App& app, Action& action);
void AddBenchCommand(CLI::App& app, Action& action);
void AddProfileCommand(CLI::App& app, Action& action);
void AddInspectCommand(CLI::App& app, Action& action);
void AddTuneCommand(CLI::App& app, Action& action);
void AddRecordsCommand(CLI::App& app, Action& action);
void AddQuantizeCommand(CLI::App& app, Action& action);
void AddJobsCommand(CLI::App& app, Action& action);
void AddLoginCommand(CLI::App& app, Action& action);
void AddLogoutCommand(CLI::App& app, Action& action);
void AddRunnerCommand(CLI::App& app, Action& action);
void AddAgentCommand(CLI::App& app, Action& action);
void AddHealthCommand(CLI::App& app, Action& action);
void AddFleetCommand(CLI::App& app, Action& action);
void AddFleetSlurmCommand(CLI::App& fleet, Action& action);  // below fleet
void AddSignCommands(CLI::App& app, Action& action);         // sign, key
void AddSweepCommand(CLI::App& app, Action& action);
void AddOperatorsCommand(CLI::App& app, Action& action);
void AddDoctorCommand(CLI::App& app, Action& action);
void AddZooCommand(CLI::App& app, Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_COMMAND_H_

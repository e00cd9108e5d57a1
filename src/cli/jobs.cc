// attune jobs run|simulate
#include "cli/command.h"
#include "cli/jobs_command.h"

namespace attune {

void AddJobsCommand(CLI::App& app, Action& action) {
  CLI::App* jobs = app.add_subcommand("jobs", "Run many jobs on few processors and devices");
  jobs->require_subcommand(1);
  AddJobsRunCommand(*jobs, action);
  AddJobsSimulateCommand(*jobs, action);
}

}  // namespace attune

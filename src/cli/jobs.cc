// attune jobs run|simulate|submit|predict|list|show|logs|cancel|result
#include "cli/command.h"
#include "cli/jobs_command.h"

namespace attune {

void AddJobsCommand(CLI::App& app, Action& action) {
  CLI::App* jobs =
      app.add_subcommand("jobs", "Run many jobs on a few processors and devices, here or on a server");
  jobs->require_subcommand(1);
  AddJobsRunCommand(*jobs, action);
  AddJobsSimulateCommand(*jobs, action);
  AddJobsSubmitCommand(*jobs, action);
  AddJobsPredictCommand(*jobs, action);
  AddJobsListCommand(*jobs, action);
  AddJobsShowCommand(*jobs, action);
  AddJobsLogsCommand(*jobs, action);
  AddJobsCancelCommand(*jobs, action);
  AddJobsResultCommand(*jobs, action);
}

}  // namespace attune

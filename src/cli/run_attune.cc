// The work of the program `attune`.
#include "cli/run_attune.h"

#include <optional>

#include "base/out_of_memory.h"
#include "cli/command.h"
#include "cli/common/program.h"
#include "cli/server_commands.h"
#include "fleet/host/device_host_worker.h"
#include "kinds/job_worker.h"
#include "service/runner/elsewhere.h"

namespace attune {
namespace {

constexpr AddCommand kCommands[] = {
    AddCompileCommand,   AddRunCommand,    AddVerifyCommand,  AddBenchCommand,    AddProfileCommand,
    AddInspectCommand,   AddTuneCommand,   AddRecordsCommand, AddQuantizeCommand, AddJobsCommand,
    AddLoginCommand,     AddLogoutCommand, AddSweepCommand,   AddAgentCommand,    AddRunnerCommand,
    AddHealthCommand,    AddFleetCommand,  AddSignCommands,   AddServerCommands,  AddZooCommand,
    AddOperatorsCommand, AddDoctorCommand};

}  // namespace

int RunAttune(int argc, char** argv) {
  ExplainOutOfMemory("attune");
  const WorkerKind host = DeviceHostWorker();
  if (const std::optional<int> status =
          RunIfJobWorker(argc, argv, {&host, 1}, MeasureElsewhere, MeasuringPort))
    return *status;
  BecomeServerProgram(argc, argv);
  return RunProgram(
      {.name = "attune",
       .description = "Attune compiles a trained neural network into a fast program for this machine.",
       .commands = kCommands},
      argc, argv);
}

}  // namespace attune

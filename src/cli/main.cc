// The program `attune`.
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
}  // namespace attune

int main(int argc, char** argv) {
  attune::ExplainOutOfMemory("attune");
  const attune::WorkerKind host = attune::DeviceHostWorker();
  if (const std::optional<int> status =
          attune::RunIfJobWorker(argc, argv, {&host, 1}, attune::MeasureElsewhere, attune::MeasuringPort))
    return *status;
  attune::BecomeServerProgram(argc, argv);
  return attune::RunProgram(
      {.name = "attune",
       .description = "Attune compiles a trained neural network into a fast program for this machine.",
       .commands = attune::kCommands},
      argc, argv);
}

// The program `attune-server`. People type its commands after `attune`, which starts it.
#include <array>
#include <optional>

#include "base/out_of_memory.h"
#include "base/process/worker.h"
#include "cli/common/program.h"
#include "process/commands/command.h"
#include "service/models/import_worker.h"

namespace attune {
namespace {

constexpr AddCommand kCommands[] = {AddServerCommand, AddBackupCommands, AddUpCommand, AddDownCommand};

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  attune::ExplainOutOfMemory("attune-server");
  const std::array<attune::WorkerKind, 1> workers = {attune::ImportWorker()};
  if (const std::optional<int> status = attune::RunIfWorker(argc, argv, workers)) return *status;
  return attune::RunProgram({.name = "attune",
                             .description = "Serves a fleet of devices, and the jobs of many.",
                             .commands = attune::kCommands},
                            argc, argv);
}

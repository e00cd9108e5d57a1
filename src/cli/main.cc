// The program `attune`.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/log.h"
#include "base/out_of_memory.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/output.h"
#include "fleet/host/device_host_worker.h"
#include "jobs/runner_worker.h"
#include "service/models/import_worker.h"
#include "service/runner/elsewhere.h"

namespace attune {
namespace {

constexpr int kDone = 0, kCouldNot = 1, kWrongUsage = 2;

constexpr char kLogLevelVariable[] = "ATTUNE_LOG_LEVEL";

// Called for the environment variable, then for the command line, which thus overrides it.
absl::Status SetLogLevelByName(const std::string& name) {
  const absl::StatusOr<LogLevel> level = LogLevelNamed(name);
  if (level.ok()) SetLogLevel(*level);
  return level.status();
}

// Adds the flag to this command and its subcommands.
void AddLogLevel(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--log-level",
          [](const std::string& name) {
            const absl::Status status = SetLogLevelByName(name);
            if (!status.ok()) throw CLI::ValidationError("--log-level", std::string(status.message()));
          },
          "what is said on stderr: trace, debug, info, warning (default), error or off (or "
          "$ATTUNE_LOG_LEVEL)")
      ->type_name("LEVEL");
  for (CLI::App* below : command.get_subcommands({})) AddLogLevel(*below);
}

int Main(int argc, char** argv) {
  // With SIGXFSZ ignored, write() fails at the limit of a file's size, and the error handling reports that
  // and removes the file.
  std::signal(SIGXFSZ, SIG_IGN);

  CLI::App app("Attune compiles a trained neural network into a fast program for this machine.", "attune");
  app.require_subcommand(1);
  app.set_version_flag("--version", "attune " ATTUNE_VERSION);
  Action action;
  AddCompileCommand(app, action);
  AddRunCommand(app, action);
  AddVerifyCommand(app, action);
  AddBenchCommand(app, action);
  AddProfileCommand(app, action);
  AddInspectCommand(app, action);
  AddTuneCommand(app, action);
  AddRecordsCommand(app, action);
  AddQuantizeCommand(app, action);
  AddJobsCommand(app, action);
  AddLoginCommand(app, action);
  AddLogoutCommand(app, action);
  AddSweepCommand(app, action);
  AddServerCommand(app, action);
  AddAgentCommand(app, action);
  AddRunnerCommand(app, action);
  AddHealthCommand(app, action);
  AddFleetCommand(app, action);
  AddSignCommands(app, action);
  AddBackupCommands(app, action);
  AddUpCommand(app, action);
  AddDownCommand(app, action);
  AddZooCommand(app, action);
  AddLogLevel(app);
  if (const char* level = std::getenv(kLogLevelVariable); level != nullptr && *level != '\0') {
    if (const absl::Status status = SetLogLevelByName(level); !status.ok()) {
      PrintError(Annotate(status, kLogLevelVariable));
      return kWrongUsage;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    PrintError(absl::InvalidArgumentError(error.what()));
    std::fputs("Run attune --help, or attune COMMAND --help.\n", stderr);
    return kWrongUsage;
  }
  absl::Status status;
  try {
    status = action();
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError(kOutOfMemory);
  }
  if (status.ok()) status = FlushOutput();
  if (status.ok()) return kDone;
  PrintError(status);
  return kCouldNot;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  attune::ExplainOutOfMemory("attune");
  const attune::WorkerKind more[] = {attune::DeviceHostWorker(), attune::ImportWorker()};
  if (const std::optional<int> status =
          attune::RunIfJobWorker(argc, argv, more, attune::MeasureElsewhere, attune::MeasuringPort))
    return *status;
  return attune::Main(argc, argv);
}

#include "cli/common/program.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "base/log.h"
#include "base/out_of_memory.h"
#include "base/status.h"
#include "cli/common/output.h"

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
          "messages on stderr: trace, debug, info, warning (default), error or off (or $ATTUNE_LOG_LEVEL)")
      ->type_name("LEVEL");
  for (CLI::App* below : command.get_subcommands({})) AddLogLevel(*below);
}

}  // namespace

int RunProgram(const CommandSet& program, int argc, char** argv) {
  // With SIGXFSZ ignored, write() fails at the limit of a file's size, and the error handling reports that
  // and removes the file.
  std::signal(SIGXFSZ, SIG_IGN);

  CLI::App app(program.description, program.name);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(program.name) + " " ATTUNE_VERSION);
  Action action;
  for (const AddCommand add : program.commands) add(app, action);
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
    std::fprintf(stderr, "Run %s --help, or %s COMMAND --help.\n", program.name, program.name);
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

}  // namespace attune

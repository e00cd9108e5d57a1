// The program `attune`.
#include <csignal>
#include <cstdio>
#include <new>
#include <optional>

#include "absl/status/status.h"
#include "api/tuning.h"
#include "base/notice.h"
#include "base/out_of_memory.h"
#include "cli/command.h"
#include "cli/output.h"

namespace attune {
namespace {

constexpr int kDone = 0, kCouldNot = 1, kWrongUsage = 2;

int Main(int argc, char** argv) {
  // A file that may not grow further is an error of write(), which says so and removes the file.
  std::signal(SIGXFSZ, SIG_IGN);
  SetNoticeHandler(PrintNote);

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
  AddZooCommand(app, action);
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
  if (const std::optional<int> status = attune::RunIfWorker(argc, argv)) return *status;
  return attune::Main(argc, argv);
}

// attune sweep plot FOLDER -o page.html
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/destinations.h"
#include "cli/sweep_command.h"
#include "sweep/sweep_folder.h"
#include "sweep/sweep_page.h"
#include "sweep/sweep_result.h"

namespace attune {
namespace {

struct SweepPlotFlags {
  std::string folder, output;
};

absl::Status Plot(const SweepPlotFlags& flags) {
  ASSIGN_OR_RETURN(const SweepFolder folder, SweepFolder::Open(flags.folder));
  std::vector<SweepResult> results;
  for (const SweepRun& run : folder.plan().runs) results.push_back(ReadSweepResult(folder, run));
  return WriteFileAtomically(flags.output, SweepHtml(folder.plan(), results));
}

}  // namespace

void AddSweepPlotCommand(CLI::App& sweep, Action& action) {
  CLI::App* command =
      sweep.add_subcommand("plot", "Plot inference time against each option of a sweep, also while it runs");
  auto flags = std::make_shared<SweepPlotFlags>();
  command->add_option("FOLDER", flags->folder, "the folder of the sweep")->required();
  AddOutputFlag(*command, "-o,--output", flags->output, "the page to write (HTML)")->required();
  command->callback([flags, &action] { action = [flags] { return Plot(*flags); }; });
}

}  // namespace attune

// attune sweep SWEEP.yaml
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/cancel.h"
#include "base/file.h"
#include "base/html.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/common/stops_on_signal.h"
#include "cli/destinations.h"
#include "cli/sweep_command.h"
#include "cli/sweep_definitions.h"
#include "cli/sweep_view.h"
#include "device/host.h"
#include "device/topology.h"
#include "sweep/own_fleet.h"
#include "sweep/own_program.h"
#include "sweep/results_table.h"
#include "sweep/sweep_driver.h"
#include "sweep/sweep_page.h"
#include "sweep/sweep_value.h"

namespace attune {
namespace {

struct SweepFlags {
  std::string file, output, json, report;
  bool is_dry = false, retries_failed = false;
};

// A sweep as its file describes it. Everything is checked.
struct ReadySweep {
  SweepFile file;
  int64_t num_excluded = 0;
  UsedOptions used;
  SweepPlan plan;
};

absl::Status CheckModels(const SweepPlan& plan, const SweepFile& file) {
  const size_t index = plan.IndexOf(kModelOption);
  std::set<SweepValue> seen;
  for (const SweepRun& run : plan.runs) {
    if (!seen.insert(run.values[index]).second) continue;
    const std::string name = SweepValueText(run.values[index]);
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::path(file.base) / name, error))
      return InvalidInput(file.path, ": model: ", Printable(name), ": there is no such file in ", file.base);
  }
  return absl::OkStatus();
}

absl::Status CheckProcessors(const SweepFile& file) {
  const std::vector<int> allowed = AllowedProcessors();
  if (allowed.empty()) return absl::OkStatus();  // the system does not say
  for (const SweepAgent& agent : file.agents) {
    for (const int processor : agent.processors)
      if (std::ranges::find(allowed, processor) == allowed.end())
        return InvalidInput(file.path, ": agents: ", Printable(agent.key),
                            ": processors: nothing can run on ", processor, "; there are ",
                            absl::StrJoin(allowed, ", "));
  }
  return absl::OkStatus();
}

// Ok if the program would begin with the arguments of all runs.
absl::Status CheckCommandLines(const SweepFolder& folder, const ReadySweep& sweep,
                               const CommandDefinitions& definitions) {
  for (const SweepRun& run : folder.plan().runs) {
    if (run.repeat > 1) break;
    for (size_t command = 0; command < folder.plan().commands.size(); ++command) {
      const absl::Status status =
          definitions.CheckArguments(SweepArguments(folder, sweep.used, run, command, sweep.file.base));
      if (status.ok()) continue;
      return InvalidInput(sweep.file.path, ": ", folder.plan().commands[command], " of ",
                          Printable(folder.plan().DescribeRun(run)), ": ", status.message());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ReadySweep> ReadSweep(const std::string& path, const CommandDefinitions& definitions) {
  ReadySweep sweep;
  ASSIGN_OR_RETURN(sweep.file, ReadSweepFile(path));
  ASSIGN_OR_RETURN(const ExpandedSweep expanded, ExpandSweep(sweep.file));
  sweep.num_excluded = expanded.num_excluded;
  ASSIGN_OR_RETURN(sweep.used, ResolveOptions(sweep.file, expanded, definitions));
  RETURN_IF_ERROR(CheckAgentKeys(sweep.file, expanded, sweep.used));
  RETURN_IF_ERROR(CheckProcessors(sweep.file));
  sweep.plan = MakeSweepPlan(sweep.file, expanded, ATTUNE_VERSION, DeviceFingerprint());
  RETURN_IF_ERROR(CheckModels(sweep.plan, sweep.file));
  return sweep;
}

// The absolute folder of the sweep: its commands run elsewhere.
std::string FolderOf(const SweepFlags& flags, const SweepFile& file) {
  std::filesystem::path folder = flags.output.empty() ? file.output : flags.output;
  if (folder.empty())
    folder = std::filesystem::path(file.base) / (std::filesystem::path(file.path).stem().string() + ".sweep");
  std::error_code error;
  return std::filesystem::absolute(folder, error).lexically_normal().string();
}

// An argument as a shell would need it.
std::string Quoted(const std::string& argument) {
  constexpr char kPlain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
  if (argument.find_first_not_of(kPlain) == std::string::npos) return argument;
  return absl::StrCat("'", argument, "'");
}

std::string DryRunText(const SweepFolder& folder, const ReadySweep& sweep, const SweepDriver& driver) {
  const SweepPlan& plan = folder.plan();
  const int64_t runs = std::ssize(plan.runs);
  std::string text = absl::StrCat(CountText(runs, "run"), " of ", absl::StrJoin(plan.commands, ", "), ", ",
                                  CountText(sweep.num_excluded, "combination"), " excluded; ",
                                  driver.NumUnfinished(), " to do, ", driver.NumFailed(), " failed\n");
  absl::StrAppend(&text, "folder: ", folder.path(), "\n");
  if (!plan.agents.empty()) {
    std::vector<std::string> keys;
    for (const SweepAgent& agent : plan.agents) keys.push_back(agent.key);
    absl::StrAppend(&text, "starts: attune server, and attune agent for ", absl::StrJoin(keys, ", "), "\n");
  }
  absl::StrAppend(&text, "\n", SweepTable(plan, driver.results()), "\nthe first run:\n");
  for (size_t command = 0; command < plan.commands.size(); ++command) {
    text += "  attune";
    for (const std::string& argument :
         SweepArguments(folder, sweep.used, plan.runs.front(), command, sweep.file.base))
      absl::StrAppend(&text, " ", Quoted(argument));
    text += "\n";
  }
  return text;
}

absl::Status WriteFiles(const SweepFlags& flags, const SweepPlan& plan, const SweepDriver& driver) {
  if (!flags.report.empty())
    RETURN_IF_ERROR(WriteFileAtomically(flags.report, SweepHtml(plan, driver.results())));
  return flags.json.empty() ? absl::OkStatus() : WriteJson(ResultsJson(plan, driver.results()), flags.json);
}

absl::Status RunAll(const SweepFolder& folder, const ReadySweep& sweep, SweepDriver& driver) {
  Cancellation cancellation;
  const StopsOnSignal stops([](void* stopped) { static_cast<Cancellation*>(stopped)->Cancel(); },
                            &cancellation,
                            "\nstopping; the same command resumes later; interrupt again to exit at once\n");
  std::unique_ptr<OwnFleet> fleet;
  if (!sweep.file.agents.empty() && driver.NumUnfinished() > 0) {
    Progress progress;
    progress.Show("starting a server and agents");
    ASSIGN_OR_RETURN(fleet, OwnFleet::Start(folder.FleetFolder(), sweep.file.agents, cancellation));
  }
  OwnProgram program(sweep.file.base, sweep.file.most_seconds);
  SweepView view(folder.plan());
  return driver.Run(program, view, cancellation);
}

absl::Status Sweep(const SweepFlags& flags) {
  const CommandLineDefinitions definitions;
  ASSIGN_OR_RETURN(const ReadySweep sweep, ReadSweep(flags.file, definitions));
  for (const std::string& path : {flags.report, flags.json})
    if (!path.empty() && path != "-") RETURN_IF_ERROR(OutputFile::Check(path));
  const std::string path = FolderOf(flags, sweep.file);
  ASSIGN_OR_RETURN(const SweepFolder preview, SweepFolder::Preview(path, sweep.plan));
  RETURN_IF_ERROR(CheckCommandLines(preview, sweep, definitions));
  if (flags.is_dry) {
    const SweepDriver driver(preview, sweep.used, sweep.file.base, flags.retries_failed);
    RETURN_IF_ERROR(WriteFiles(flags, preview.plan(), driver));
    if (LeaveStdout({flags.report, flags.json})) PrintResult(DryRunText(preview, sweep, driver));
    return absl::OkStatus();
  }

  ASSIGN_OR_RETURN(const SweepFolder folder, SweepFolder::BeginOrResume(path, sweep.plan));
  const SweepPlan& plan = folder.plan();
  SweepDriver driver(folder, sweep.used, sweep.file.base, flags.retries_failed);
  if (folder.is_resumed())
    PrintNote(absl::StrCat("resuming sweep ", plan.id, ": ", driver.NumUnfinished(), " of ",
                           CountText(std::ssize(plan.runs), "run"), " to do"));
  const absl::Status status = RunAll(folder, sweep, driver);
  if (!status.ok() && !absl::IsCancelled(status)) return status;
  RETURN_IF_ERROR(WriteFiles(flags, plan, driver));
  if (!status.ok())
    return absl::CancelledError(absl::StrCat("stopped with ", driver.NumUnfinished(), " of ",
                                             plan.runs.size(),
                                             " runs unfinished; the same command resumes them"));
  if (LeaveStdout({flags.report, flags.json}))
    PrintResult(
        absl::StrCat(SweepTable(plan, driver.results()), "all results are in ", folder.ResultsPath(), "\n"));
  if (driver.NumFailed() == 0) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(driver.NumFailed(), " of ", plan.runs.size(), " runs have failed; ",
                                         folder.ResultsPath(),
                                         " lists why, and --retry-failed runs them again"));
}

}  // namespace

void AddSweepCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "sweep",
      "Run tune, compile, quantize and bench with many combinations of options, one after the other");
  command->require_subcommand(0, 1);
  auto flags = std::make_shared<SweepFlags>();
  command->add_option("SWEEP", flags->file, "a file that describes the runs (.yaml)");
  command->add_option(
      "-o,--output", flags->output,
      "the folder of the sweep (default: as the file says, or its name with .sweep, beside it)");
  command->add_flag("--dry-run", flags->is_dry, "show the runs and which are done, and start nothing");
  command->add_flag("--retry-failed", flags->retries_failed, "run failed runs again");
  AddOutputFlag(*command, "--report", flags->report, "write a page with plots here (HTML)");
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  AddSweepCompareCommand(*command, action);
  AddSweepPlotCommand(*command, action);
  command->callback([command, flags, &action] {
    // A subcommand has set the action.
    if (!command->get_subcommands().empty()) return;
    if (flags->file.empty()) throw CLI::RequiredError("SWEEP");
    RequireOneStdout({flags->report, flags->json});
    action = [flags] { return Sweep(*flags); };
  });
}

}  // namespace attune

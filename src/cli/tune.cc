// attune tune MODEL
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "api/tuning.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/stops_on_signal.h"
#include "cli/destinations.h"
#include "cli/model_flags.h"
#include "cli/tuning_view.h"
#include "work/job/settings.h"

namespace attune {
namespace {

struct Flags {
  ModelFlags model;
  InputSources inputs;
  TuneOptions tune;
  std::string time, cache = "network";
  std::string output, report;
  bool shows_space = false, no_transfer_runs = false, no_transfer_tasks = false, no_layouts = false,
       no_defaults = false, no_model = false;
};

Json ToJson(const TuningSummary& summary, const NetworkTuner& tuner, bool stopped) {
  Json json = ToJson(summary);
  json["records"] = tuner.records_path();
  json["stopped"] = stopped;
  if (const Recording* recording = tuner.recording())
    json["replayed"] = {{"asked", recording->asked()}, {"missing", recording->missing()}};
  return json;
}

// Runs all stages of the job, one after the other.
absl::Status Drive(NetworkTuner& tuner) {
  TuningJob& job = tuner.job();
  const StopsOnSignal stops(
      [](void* stopped) { static_cast<TuningJob*>(stopped)->Cancel(); }, &job,
      "\nfinishing the current measurement, then stopping; interrupt again to exit at once\n");
  TuningView view;
  if (tuner.run().is_resumed()) view.Note("resuming run " + tuner.run().run().id);
  return tuner.RunStages([&](const std::string& stage) { view.Update(job, stage); },
                         [&](const std::string& stage) { view.EndStage(job, stage); });
}

// Says how the records are used; follows the name of their file.
std::string_view UseOfRecords(const Flags& flags, bool stopped) {
  if (!flags.tune.device.empty()) return ", as those of another device than compile asks for\n";
  if (!flags.model.on.empty()) return ", which compile --on uses by itself\n";
  if (stopped) return "; what looks best there is not confirmed yet, as the same command does\n";
  return flags.model.records.empty() ? ", which compile uses by itself\n"
                                     : ", which compile uses with --records\n";
}

absl::Status WriteResults(const Flags& flags, NetworkTuner& tuner, bool stopped) {
  const TuningSummary summary = tuner.job().Summary();
  if (!flags.output.empty()) {
    ASSIGN_OR_RETURN(const Network tuned, tuner.Compile());
    RETURN_IF_ERROR(tuned.Save(flags.output).status());
  }
  if (!flags.report.empty()) RETURN_IF_ERROR(WriteFileAtomically(flags.report, ReportHtml(summary)));
  if (!flags.model.json.empty())
    RETURN_IF_ERROR(WriteJson(ToJson(summary, tuner, stopped), flags.model.json));
  if (!LeaveStdout({flags.output, flags.report, flags.tune.events, flags.model.json}))
    return absl::OkStatus();
  PrintResult(ResultText(summary));
  if (const Recording* recording = tuner.recording()) {
    PrintResult(absl::StrCat("of ", recording->asked(), " results, ", recording->missing(),
                             " were not in the recording\n"));
  }
  PrintResult(absl::StrCat("records are in ", tuner.records_path(), UseOfRecords(flags, stopped)));
  return absl::OkStatus();
}

// Checks before the run, which may take hours, that the files written at its end can be written.
absl::Status CheckFiles(const Flags& flags) {
  for (const std::string& file : {flags.output, flags.report, flags.model.json})
    if (!file.empty() && file != "-") RETURN_IF_ERROR(OutputFile::Check(file));
  return absl::OkStatus();
}

absl::Status Tune(Flags& flags) {
  if (!flags.model.cpus.empty()) {
    return InvalidInput("--cpu: tuning is for the processor that it measures on; leave the flag out");
  }
  if (!flags.tune.replay.empty() && flags.model.records.empty()) {
    return InvalidInput("--replay: the records of this run will hold times of another one; name a database ",
                        "a database of its own with --records");
  }
  RETURN_IF_ERROR(CheckFiles(flags));
  Network network = Network::FromGraph(Graph("none"), "");
  TuneOptions& options = flags.tune;
  {
    Progress progress;
    ASSIGN_OR_RETURN(ModelWork work, OpenModel(flags.model, flags.inputs, /*jobs=*/0, progress));
    ASSIGN_OR_RETURN(ReadyNetwork ready, OptimizeModel(std::move(work.model), work.source, work.request));
    network = std::move(ready.network);
    SetRequest(work.request, options);
  }
  if (flags.shows_space) {
    ASSIGN_OR_RETURN(const std::string spaces, DescribeSpaces(network, options));
    PrintResult(spaces);
    return absl::OkStatus();
  }
  if (!flags.time.empty()) options.tuning.seconds = *ParseSeconds(flags.time);
  options.tuning.cache = *ParseCacheMode(flags.cache);
  options.tuning.transfer_from_runs = !flags.no_transfer_runs;
  options.tuning.transfer_from_tasks = !flags.no_transfer_tasks;
  options.tuning.use_defaults = !flags.no_defaults;
  options.tuning.retry_layouts = !flags.no_layouts;
  options.use_model = !flags.no_model;
  ASSIGN_OR_RETURN(const std::unique_ptr<NetworkTuner> tuner, NetworkTuner::Create(network, options));
  RETURN_IF_ERROR(Drive(*tuner));
  return WriteResults(flags, *tuner, tuner->job().is_stopped());
}

}  // namespace

void AddTuneCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("tune", "Find faster kernels for a model by measuring on a device");
  auto flags = std::make_shared<Flags>();
  flags->model.why_no_artifact = kWhyCompiledAlready;
  AddModelFlags(*command, flags->model, "threads that one inference will run on");
  AddInputFlags(*command, flags->inputs);
  TuningOptions& tuning = flags->tune.tuning;
  constexpr int64_t kMost = 1'000'000'000;
  command
      ->add_option("--time", flags->time,
                   "stop after this long: 5m, 1h30m, 90s (default: when no more gain is expected)")
      ->check([](const std::string& text) {
        return ParseSeconds(text).has_value() ? ""
                                              : "\"" + text + "\" is not a duration like 90s, 5m or 1h30m";
      });
  command
      ->add_option("--trials", tuning.trials,
                   "stop after this many trials; one per kernel measures its baseline")
      ->check(CLI::Range(int64_t{1}, kMost));
  command->add_option("--trials-per-task", tuning.trials_per_task, "most trials of one task")
      ->check(CLI::Range(int64_t{1}, kMost));
  std::vector<std::string> names;
  for (const SearchStrategyInfo& info : AllSearchStrategies()) names.emplace_back(info.name);
  command->add_option("--strategy", tuning.search, "how to search: " + absl::StrJoin(names, ", "))
      ->check(CLI::IsMember(names));
  AddOutputFlag(*command, "-o,--output", flags->output, "write the tuned artifact here");
  AddOutputFlag(*command, "--report", flags->report, "write a page about the run here (HTML)");
  AddOutputFlag(*command, "--events", flags->tune.events, "append events here, as JSON lines");
  command->add_option("--replay", flags->tune.replay,
                      "measure, but learn from the times in this file of another run's events: to compare "
                      "builds and machines; needs --records, since the records are not this run's");
  command->add_flag("--space", flags->shows_space, "only show the search space");
  command
      ->add_option("--batch", tuning.batch, "candidates that are built and measured together (default: 32)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--builders", tuning.builders, "processes that build (default: as many as processors)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--candidate-seconds", tuning.measure_seconds,
                   "most seconds to time one candidate (default: 0.8)")
      ->check(CLI::Range(0.01, 3600.0));
  command
      ->add_option("--execution-seconds", tuning.execution_seconds,
                   "most seconds of one run of a candidate, unless its baseline takes half as long (default: "
                   "1, doubled up to 10 while more than a tenth of the candidates take longer)")
      ->check(CLI::Range(0.01, 3600.0));
  command
      ->add_option("--patience", tuning.patience,
                   "leave a task after this many trials without a gain (default: 200; 0: never)")
      ->check(CLI::Range(int64_t{0}, kMost));
  command
      ->add_option("--random-share", tuning.random_share,
                   "the share of candidates that are drawn at random (default: 0.1)")
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seed", tuning.seed, "seed of all random choices (default: 0)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--cache", flags->cache,
                   "caches when a kernel is timed: warm, cold, or as in the network (default)")
      ->check(CLI::IsMember({"network", "warm", "cold"}));
  command->add_option("--device", flags->tune.device,
                      "key of the device's records (default: the device's fingerprint)");
  command->add_flag("--no-transfer-runs", flags->no_transfer_runs, "ignore records of earlier runs");
  command->add_flag("--no-transfer-tasks", flags->no_transfer_tasks,
                    "do not transfer from one task to another");
  command->add_flag(
      "--no-defaults", flags->no_defaults,
      "search without the analytic defaults, and confirm nothing: to compare search strategies");
  command->add_flag("--no-layouts", flags->no_layouts, "keep the layouts that were chosen before tuning");
  command->add_option("--cost-model", flags->tune.cost_model,
                      "file of a cost model to start with, as attune records learn writes it, or none "
                      "(default: the built-in one)");
  command->add_flag("--no-model", flags->no_model, "search without a cost model");
  command->callback([flags, &action] {
    RequireOneStdout({flags->output, flags->report, flags->tune.events, flags->model.json});
    action = ModelAction(flags->model, [flags] { return Tune(*flags); });
  });
}

}  // namespace attune

// attune tune MODEL
#include <memory>
#include <utility>

#include "api/tuning.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/stops_on_signal.h"
#include "cli/destinations.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"
#include "cli/tuning_view.h"

namespace attune {
namespace {

struct TuneFlags {
  ModelFlags model;
  InputSources inputs;
  TuneOptions tune;
  std::string output, report;
  bool shows_space = false;
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
std::string_view UseOfRecords(const TuneFlags& flags, bool stopped) {
  if (!flags.tune.tuning.device.empty()) return ", as those of another device than compile asks for\n";
  if (!flags.model.on.empty()) return ", which compile --on uses by itself\n";
  if (stopped) return "; what looks best there is not confirmed yet, as the same command does\n";
  return flags.model.compile.records.empty() ? ", which compile uses by itself\n"
                                             : ", which compile uses with --records\n";
}

absl::Status WriteResults(const TuneFlags& flags, NetworkTuner& tuner, bool stopped) {
  const TuningSummary summary = tuner.job().Summary();
  if (!flags.output.empty()) {
    ASSIGN_OR_RETURN(const Network tuned, tuner.Compile());
    RETURN_IF_ERROR(tuned.Save(flags.output).status());
  }
  if (!flags.report.empty()) RETURN_IF_ERROR(WriteFileAtomically(flags.report, ReportHtml(summary)));
  if (!flags.model.json.empty())
    RETURN_IF_ERROR(WriteJson(ToJson(summary, tuner, stopped), flags.model.json));
  if (!LeaveStdout({flags.output, flags.report, flags.tune.tuning.events, flags.model.json}))
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
absl::Status CheckFiles(const TuneFlags& flags) {
  for (const std::string& file : {flags.output, flags.report, flags.model.json})
    if (!file.empty() && file != "-") RETURN_IF_ERROR(OutputFile::Check(file));
  return absl::OkStatus();
}

absl::Status Tune(TuneFlags& flags) {
  if (!flags.model.compile.cpus.empty()) {
    return InvalidInput("--cpu: tuning is for the processor that it measures on; leave the flag out");
  }
  if (!flags.tune.tuning.replay.empty() && flags.model.compile.records.empty()) {
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
  ASSIGN_OR_RETURN(const std::unique_ptr<NetworkTuner> tuner, NetworkTuner::Create(network, options));
  RETURN_IF_ERROR(Drive(*tuner));
  return WriteResults(flags, *tuner, tuner->job().is_stopped());
}

}  // namespace

void AddTuneCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("tune", "Find faster kernels for a model by measuring on a device");
  auto flags = std::make_shared<TuneFlags>();
  flags->model.why_no_artifact = kWhyCompiledAlready;
  AddModelFlags(*command, flags->model, "threads that one inference will run on");
  AddInputFlags(*command, flags->inputs);
  AddOutputFlag(*command, "-o,--output", flags->output, "write the tuned artifact here");
  AddOutputFlag(*command, "--report", flags->report, "write a page about the run here (HTML)");
  AddOptionFlags(*command, OptionsOf(flags->tune.tuning));
  command->add_flag("--space", flags->shows_space, "only show the search space");
  command->callback([flags, &action] {
    RequireOneStdout({flags->output, flags->report, flags->tune.tuning.events, flags->model.json});
    action = ModelAction(flags->model, [flags] { return Tune(*flags); });
  });
}

}  // namespace attune

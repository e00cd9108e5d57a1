// attune jobs simulate
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/destinations.h"
#include "cli/jobs_command.h"
#include "work/report/schedule_json.h"
#include "work/simulation/strategy_comparison.h"
#include "work/simulation/traces.h"

namespace attune {
namespace {

constexpr int64_t kMostBytes = 256 << 20;
constexpr char kAll[] = "all";

struct JobsSimulateFlags {
  std::vector<std::string> traces;
  std::string draw, mix = "unlike", strategy = kAll, json, report;
  int64_t jobs = 0, devices = 0;  // 0: as in the files
  int processors = 0;
  uint64_t seed = 0;
};

struct SimulatedJobs {
  std::vector<SimulatedJob> jobs;
  std::vector<HostResources> hosts;

  int64_t NumStages() const {
    int64_t count = 0;
    for (const SimulatedJob& job : jobs) count += std::ssize(job.stages);
    return count;
  }
};

absl::StatusOr<nlohmann::json> ReadJson(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  absl::StatusOr<nlohmann::json> json = ParseJson(text);
  RETURN_IF_ERROR(Annotate(json.status(), path));
  return json;
}

absl::StatusOr<SimulatedJobs> DrawnJobs(const JobsSimulateFlags& flags) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ReadJson(flags.draw));
  absl::StatusOr<DrawnWorkload> drawn = DrawWorkload(json, flags.jobs, flags.seed);
  RETURN_IF_ERROR(Annotate(drawn.status(), flags.draw));
  SimulatedJobs workload{.jobs = std::move(drawn->jobs), .hosts = {}};
  const int64_t devices = flags.devices > 0 ? flags.devices : drawn->devices;
  ASSIGN_OR_RETURN(workload.hosts, HostsLike({drawn->host}, devices, flags.processors));
  return workload;
}

absl::StatusOr<SimulatedJobs> TracedJobs(const JobsSimulateFlags& flags) {
  std::vector<ScheduleRecord> records;
  std::vector<SimulatedJob> jobs;
  for (const std::string& path : flags.traces) {
    ASSIGN_OR_RETURN(const nlohmann::json json, ReadJson(path));
    absl::StatusOr<ScheduleRecord> record = ScheduleOfJson(json);
    RETURN_IF_ERROR(Annotate(record.status(), path));
    for (SimulatedJob& job : JobsOfTrace(*record)) jobs.push_back(std::move(job));
    record->jobs.clear();
    record->stages.clear();
    records.push_back(*std::move(record));
  }
  const Mix mix = flags.mix == "like" ? Mix::kLike : Mix::kUnlike;
  SimulatedJobs workload;
  absl::StatusOr<std::vector<SimulatedJob>> mixed = MixJobs(jobs, flags.jobs, mix);
  RETURN_IF_ERROR(Annotate(mixed.status(), absl::StrJoin(flags.traces, ", ")));
  workload.jobs = *std::move(mixed);
  ASSIGN_OR_RETURN(workload.hosts, HostsLike(HostsOfTraces(records), flags.devices, flags.processors));
  return workload;
}

absl::Status WriteResults(const JobsSimulateFlags& flags, const SimulatedJobs& workload,
                          const std::vector<StrategyOutcome>& outcomes,
                          const std::vector<std::string>& charts) {
  const std::string what = absl::StrCat(workload.jobs.size(), " jobs with ", workload.NumStages(), " stages");
  if (!flags.report.empty())
    RETURN_IF_ERROR(WriteFileAtomically(flags.report, ComparisonHtml(what, outcomes, charts)));
  if (!flags.json.empty()) {
    Json strategies = Json::array();
    for (const StrategyOutcome& outcome : outcomes) strategies.push_back(ToJson(outcome));
    const Json json = {{"jobs", workload.jobs.size()},
                       {"stages", workload.NumStages()},
                       {"seed", flags.seed},
                       {"strategies", std::move(strategies)}};
    RETURN_IF_ERROR(WriteJson(json, flags.json));
  }
  if (!LeaveStdout({flags.json, flags.report})) return absl::OkStatus();
  const std::vector<std::vector<std::string>> rows = ComparisonRows(outcomes);
  std::vector<bool> right(rows[0].size(), true);
  right[0] = false;
  PrintResult(absl::StrCat(what, "\n\n", FormatTable(rows, right)));
  return absl::OkStatus();
}

void PrintNotes(const std::vector<StrategyOutcome>& outcomes) {
  for (const StrategyOutcome& outcome : outcomes) {
    if (!outcome.is_coordinated)
      PrintNote(outcome.strategy +
                ": simulated as if stages on the same processors did not slow each other down");
    if (FindSchedulingStrategy(outcome.strategy)->dedicates_hosts)
      PrintNote(outcome.strategy +
                ": has a host for each job, which is more hardware than the others have "
                "unless there are as many hosts as jobs");
  }
}

absl::Status Simulate(const JobsSimulateFlags& flags) {
  if (flags.traces.empty() && flags.draw.empty())
    return InvalidInput(
        "no jobs are given; add --trace with a schedule that attune jobs run --json has written, or --draw");
  for (const std::string& file : {flags.json, flags.report})
    if (!file.empty() && file != "-") RETURN_IF_ERROR(OutputFile::Check(file));
  Progress progress;
  progress.Show("reading");
  ASSIGN_OR_RETURN(const SimulatedJobs workload, flags.draw.empty() ? TracedJobs(flags) : DrawnJobs(flags));
  const StrategyComparison comparison(workload.jobs, workload.hosts);
  std::vector<StrategyOutcome> outcomes;
  std::vector<std::string> charts;
  for (const SchedulingStrategy& strategy : AllSchedulingStrategies()) {
    if (flags.strategy != kAll && flags.strategy != strategy.name) continue;
    progress.Show(absl::StrCat("simulating ", strategy.name));
    ASSIGN_OR_RETURN(StrategyOutcome outcome, comparison.Run(strategy));
    if (!flags.report.empty()) charts.push_back(StrategyChart(workload.jobs, outcome));
    outcome.runs = {};  // they take much memory
    outcomes.push_back(std::move(outcome));
  }
  progress.Show("writing");
  RETURN_IF_ERROR(WriteResults(flags, workload, outcomes, charts));
  PrintNotes(outcomes);
  return absl::OkStatus();
}

}  // namespace

void AddJobsSimulateCommand(CLI::App& jobs, Action& action) {
  CLI::App* command = jobs.add_subcommand(
      "simulate", "Compare scheduling strategies on recorded or random jobs, without running anything");
  auto flags = std::make_shared<JobsSimulateFlags>();
  CLI::Option* trace =
      command->add_option("--trace", flags->traces,
                          "a schedule of jobs that attune jobs run --json has written; may be repeated");
  command->add_option("--draw", flags->draw, "a JSON file that describes random jobs")->excludes(trace);
  constexpr int64_t kMostJobs = 1'000'000, kMostDevices = 1'000'000;
  command->add_option("--jobs", flags->jobs, "number of jobs (default: as in the files)")
      ->check(CLI::Range(int64_t{1}, kMostJobs));
  command
      ->add_option("--mix", flags->mix,
                   "how to choose jobs from the traces: unlike, all in rotation (default), or like, the "
                   "first again and again")
      ->check(CLI::IsMember({"like", "unlike"}));
  command
      ->add_option("--devices", flags->devices,
                   "number of devices, on hosts like those of the files (default: as in the files)")
      ->check(CLI::Range(int64_t{1}, kMostDevices));
  command
      ->add_option("--processors", flags->processors,
                   "processors of each host, including its devices' (default: as in the files)")
      ->check(CLI::Range(1, 8192));
  std::vector<std::string> names = {kAll};
  for (const SchedulingStrategy& strategy : AllSchedulingStrategies()) names.emplace_back(strategy.name);
  command->add_option("--strategy", flags->strategy, absl::StrJoin(names, ", ") + " (default: all)")
      ->check(CLI::IsMember(names));
  command->add_option("--seed", flags->seed, "seed of random jobs (default: 0)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  AddOutputFlag(*command, "--report", flags->report,
                "write a page with charts of the strategies here (HTML)");
  command->callback([flags, &action] {
    RequireOneStdout({flags->json, flags->report});
    action = [flags] { return Simulate(*flags); };
  });
}

}  // namespace attune

// attune bench MODEL|OUT.atn
#include <algorithm>
#include <memory>
#include <numeric>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/model_flags.h"
#include "cli/on_device.h"

namespace attune {
namespace {

struct BenchFlags {
  ModelFlags model;
  InputSources inputs;
  double seconds = 1;
};

absl::Status Bench(const BenchFlags& flags) {
  Progress progress;
  ASSIGN_OR_RETURN(const ReadyNetwork ready, LoadNetwork(flags.model, flags.inputs, progress));
  progress.Show("measuring");
  WorkOnDevice work(flags.model.service.get(), progress);
  ASSIGN_OR_RETURN(const TimedRuns runs,
                   work->Bench(ready.network, flags.model.compile.threads, flags.seconds, ready.inputs));
  NoteDisturbance(runs.disturbance());
  if (!flags.model.json.empty()) {
    Json json = {{"latency_ms", runs.milliseconds}, {"threads", flags.model.compile.threads}};
    AddTimes(runs.waited_share, runs.times, json);
    RETURN_IF_ERROR(WriteJson(json, flags.model.json));
  }
  if (flags.model.json == "-") return absl::OkStatus();
  std::vector<double> sorted = runs.milliseconds;
  std::sort(sorted.begin(), sorted.end());
  PrintResult(
      absl::StrFormat("%s: median %.3f ms, fastest %.3f, mean %.3f, 95 %% below %.3f; %d runs\n",
                      flags.model.model, sorted[sorted.size() / 2], sorted.front(),
                      std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size()),
                      sorted[(sorted.size() - 1) * 95 / 100], sorted.size()));
  return absl::OkStatus();
}

}  // namespace

void AddBenchCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("bench", "Measure the latency of one inference");
  auto flags = std::make_shared<BenchFlags>();
  AddModelFlags(*command, flags->model, "threads that one inference runs on");
  AddArtifactFlags(*command, flags->model.artifact);
  AddInputFlags(*command, flags->inputs);
  constexpr double kMaxSeconds = 86400;
  command->add_option("--seconds", flags->seconds, "how long to measure; at least 3 runs (default: 1)")
      ->check(CLI::Range(0.0, kMaxSeconds));
  command->callback(
      [flags, &action] { action = ModelAction(flags->model, [flags] { return Bench(*flags); }); });
}

}  // namespace attune

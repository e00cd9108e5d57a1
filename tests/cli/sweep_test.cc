// attune sweep: what its commands print and write, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/testing/await_that.h"
#include "expect_refused.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The command lines of all processes that have this text.
std::vector<std::string> ProcessesWith(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string command = ReadAll(entry.path() / "cmdline");
    if (command.find(text) != std::string::npos) found.push_back(command);
  }
  return found;
}

class SweepTest : public ::testing::Test {
 protected:
  Outcome Sweep(const std::string& yaml, const std::vector<std::string>& more = {},
                const RunOptions& options = {}) {
    std::vector<std::string> arguments = {"sweep", folder_.Write("s.yaml", yaml)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunAttune(arguments, options);
  }
  // The runs as attune sweep shows them to programs; starts nothing.
  json Runs(const std::string& yaml) {
    const Outcome shown = Sweep(yaml, {"--dry-run", "--json", "-"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    return shown.exit_code == 0 ? json::parse(shown.out)["runs"] : json();
  }
  std::vector<std::string> States(const std::string& yaml) {
    std::vector<std::string> states;
    for (const json& run : Runs(yaml)) states.push_back(run["state"]);
    return states;
  }
  std::string FileOf(const json& run, const std::string& name) const {
    return folder_ / "s.sweep/runs/" + run["run"].get<std::string>() + "/" + name;
  }

  const TemporaryFolder folder_;
  const std::string model_ = folder_.Write("net.onnx", ScoresModel());
};
using TuneSweepTest = SweepTest;
using FleetSweepTest = SweepTest;

constexpr char kBench[] = R"(
commands: [compile, bench]
options: {model: net.onnx, bench.seconds: 0.01}
product:
  bench.threads: [1, 2]
  compile.compact: [true, false]
)";

TEST_F(SweepTest, RunsEachCombinationInItsOwnFolder) {
  const std::string page = folder_ / "page.html";
  const Outcome run = Sweep(kBench, {"--report", page});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("bench.threads"), HasSubstr("results.csv")));
  EXPECT_THAT(run.err,
              HasSubstr("attune: note: run 4 of 4 is done, bench.threads=2 compile.compact=false: median"));
  const std::string csv = ReadAll(folder_ / "s.sweep/results.csv");
  EXPECT_EQ(Lines(csv), 5);
  EXPECT_THAT(
      csv, HasSubstr("run,repeat,bench.threads,compile.compact,model,bench.seconds,state,error,median_ms,"));
  EXPECT_THAT(ReadAll(page), AllOf(HasSubstr("Inference by bench.threads"), Not(HasSubstr("http-equiv"))));
  for (const json& row : Runs(kBench)) {
    EXPECT_EQ(row["state"], "done");
    EXPECT_GT(row["median_ms"], 0);
    EXPECT_EQ(row["artifact_bytes"], std::filesystem::file_size(FileOf(row, "network.atn")));
    EXPECT_EQ(json::parse(ReadAll(FileOf(row, "bench.json")))["threads"], row["bench.threads"]);
  }
  const Outcome again = Sweep(kBench);
  EXPECT_THAT(again.err, AllOf(HasSubstr("0 of 4 runs to do"), Not(HasSubstr("is done"))));
}

TEST_F(SweepTest, ADryRunStartsNothing) {
  const Outcome shown =
      Sweep(std::string(kBench) + "exclude: {bench.threads: 1, compile.compact: true}\n", {"--dry-run"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("3 runs of compile, bench, 1 combination excluded; 3 to do"),
                               HasSubstr("attune compile " + model_), HasSubstr("--seconds=0.01")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s.sweep"));
}

TEST_F(SweepTest, RefusesWhatCannotBeRunInOneSentence) {
  const std::string file = folder_ / "s.yaml";
  const std::string begin = "commands: [compile, bench]\noptions: {model: net.onnx}\n";
  ExpectRefused(Sweep("commands: ["), file + ": line 1: is not YAML");
  ExpectRefused(Sweep(begin + "product: {bench.second: [1]}"),
                file + ": product: bench.second: there is no --second of bench; there are ");
  ExpectRefused(Sweep(begin + "product: {bench.seconds: [1, -1]}"),
                file + ": product: bench.seconds: -1: --seconds: ");
  ExpectRefused(Sweep(begin + "product: {compile.weights: [fp32, fp7]}"),
                file + ": product: compile.weights: fp7: --weights: fp7 not in");
  ExpectRefused(Sweep(begin + "zip: {shape: [x]}"),
                file + ": zip: shape: x: --shape: \"x\" is not of the form");
  ExpectRefused(Sweep("commands: [bench]\noptions: {model: none.onnx}"),
                file + ": model: none.onnx: there is no such file in " + folder_.path());
  ExpectRefused(Sweep("commands: [quantize]\noptions: {model: net.onnx}"),
                file + ": quantize of net.onnx: --data is required");
  ExpectRefused(Sweep("commands: [bench]\noptions: {model: net.onnx, on: desk, cpu: avx2}"),
                file + ": bench of net.onnx: --on: the device says what to compile for");
  ExpectRefused(
      Sweep("commands: [bench]\noptions: {model: net.onnx, on: a}\nagents: [{key: a, processors: [8191]}]"),
      file + ": agents: a: processors: nothing can run on 8191; there are ");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "s.sweep"));
  EXPECT_EQ(RunAttune({"sweep"}).exit_code, 2);
  EXPECT_EQ(RunAttune({"sweep", "plot", "x"}).exit_code, 2);
  ExpectRefused(RunAttune({"sweep", "compare", folder_.path(), folder_.path()}),
                "is not a folder of a sweep");
}

TEST_F(SweepTest, TellsWhichRunHasFailedAndRunsTheOthers) {
  const std::string broken = folder_.Write("broken.onnx", "no model");
  const std::string yaml =
      "commands: [bench]\noptions: {bench.seconds: 0.01}\nproduct: {model: [broken.onnx, net.onnx]}";
  const Outcome run = Sweep(yaml);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("run 1 of 2 has failed, model=broken.onnx: bench: " + broken),
                             HasSubstr("1 of 2 runs have failed"), HasSubstr("--retry-failed")));
  EXPECT_THAT(States(yaml), ::testing::ElementsAre("failed", "done"));
  folder_.Write("broken.onnx", ScoresModel());
  EXPECT_EQ(Sweep(yaml, {"--retry-failed"}).exit_code, 0);
  EXPECT_THAT(States(yaml), Each("done"));
}

TEST_F(SweepTest, ARunThatTakesTooLongIsKilled) {
  const std::string yaml = "commands: [bench]\ntimeout: 0.2s\noptions: {model: net.onnx, seconds: 1000}";
  EXPECT_EQ(Sweep(yaml).exit_code, 1);
  EXPECT_THAT(Runs(yaml)[0]["error"], "bench: has not ended within the timeout of 0.2 s");
  EXPECT_THAT(ProcessesWith(folder_.path()), IsEmpty());
}

TEST_F(SweepTest, ComparesTwoSweepsAndPlotsOne) {
  ASSERT_EQ(Sweep(kBench, {"-o", folder_ / "a"}).exit_code, 0);
  std::string other = kBench;
  other.replace(other.find("0.01"), 4, "0.02");
  ExpectRefused(Sweep(other, {"-o", folder_ / "a"}),
                "was begun with bench.seconds of run 1 0.01, and now it is 0.02");
  ASSERT_EQ(Sweep(other, {"-o", folder_ / "b"}).exit_code, 0);
  const Outcome compared = RunAttune({"sweep", "compare", folder_ / "a", folder_ / "b"});
  ASSERT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("bench.seconds: 0.01 and 0.02"),
                                  HasSubstr("bench.threads=2 compile.compact=true"),
                                  HasSubstr("geometric mean of 4 combinations: ")));
  const json itself =
      json::parse(RunAttune({"sweep", "compare", folder_ / "a", folder_ / "a", "--json", "-"}).out);
  EXPECT_EQ(itself["geometric_mean"]["ratio"], 1);
  EXPECT_EQ(itself["pairs"].size(), 4u);
  const Outcome plotted = RunAttune({"sweep", "plot", folder_ / "a", "-o", "-"});
  EXPECT_EQ(plotted.exit_code, 0) << plotted.err;
  EXPECT_THAT(plotted.out, HasSubstr("</svg>"));
}

// Trials for each task, the batch, and the time that one candidate may take. Without the defaults, nothing is
// confirmed in the end, which would take long.
constexpr char kTune[] = R"(
commands: [tune, bench]
options: {model: convolutions.onnx, threads: 1, tune.cache: warm, tune.no-defaults: true, bench.seconds: 0.05}
product:
  tune.trials-per-task: [2, 4, 8]
zip: {tune.batch: [4, 8], tune.candidate-seconds: [0.02, 0.03]}
exclude: {tune.trials-per-task: 2, tune.batch: 8}
)";

TEST_F(TuneSweepTest, GoesOnAfterAKillInTheMiddle) {
  folder_.Write("convolutions.onnx", ConvolutionsModel());
  // Killed while the third run tunes.
  RunOptions options;
  options.signal = SIGKILL;
  options.signal_when = [&, runs = json()]() mutable {
    if (runs.empty() && std::filesystem::exists(folder_ / "s.sweep/results.csv"))
      runs = json::parse(ReadAll(folder_ / "s.sweep/sweep.json"))["runs"];
    return !runs.empty() && ReadAll(FileOf(runs[2], "events.jsonl")).find("\"trial\"") != std::string::npos;
  };
  EXPECT_EQ(Sweep(kTune, {}, options).exit_code, -1);
  testing::AwaitThat([&] { return ProcessesWith(folder_.path()).empty(); });
  json runs = Runs(kTune);
  ASSERT_EQ(runs.size(), 5u);
  EXPECT_EQ(runs[0]["state"], "done");
  EXPECT_EQ(runs[2]["state"], "unfinished");
  const std::string first = ReadAll(FileOf(runs[0], "tune.json"));

  const Outcome resumed = Sweep(kTune);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("3 of 5 runs to do"), Not(HasSubstr("run 1 of"))));
  EXPECT_THAT(ReadAll(FileOf(runs[2], "log.txt")), HasSubstr("resuming run"));
  EXPECT_EQ(ReadAll(FileOf(runs[0], "tune.json")), first);
  const std::string csv = ReadAll(folder_ / "s.sweep/results.csv");
  EXPECT_EQ(Lines(csv), 6);
  runs = Runs(kTune);
  for (const json& run : runs) {
    EXPECT_EQ(run["state"], "done");
    EXPECT_THAT(csv, HasSubstr(run["run"].get<std::string>()));
    for (const char* column : {"median_ms", "tuning_seconds", "mean_task_seconds", "mean_time_seconds",
                               "mean_build_seconds", "num_trials", "artifact_bytes"})
      EXPECT_TRUE(run[column].is_number()) << column;
  }
}

TEST_F(FleetSweepTest, StartsAndEndsItsOwnServerAndAgents) {
  const std::string yaml =
      "commands: [compile, bench]\nagents: [{key: desk}]\noptions: {model: net.onnx, on: desk, "
      "bench.seconds: 0.01}\n";
  RunOptions options;
  options.environment = {{"ATTUNE_LEASES", folder_ / "leases"}};
  const Outcome shown = Sweep(yaml, {"--dry-run"}, options);
  EXPECT_THAT(shown.out, HasSubstr("starts: attune server, and attune agent for desk"));
  const Outcome run = Sweep(yaml, {}, options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(States(yaml), Each("done"));
  EXPECT_THAT(ProcessesWith(folder_.path()), IsEmpty());

  // Ctrl-C and a kill leave nothing behind either.
  for (const int signal : {SIGINT, SIGKILL}) {
    std::filesystem::remove_all(folder_ / "s.sweep");
    options.signal = signal;
    options.signal_when = [&] { return std::filesystem::exists(folder_ / "s.sweep/fleet/agent-1.log"); };
    EXPECT_NE(Sweep(yaml, {}, options).exit_code, 0);
    testing::AwaitThat([&] { return ProcessesWith(folder_.path()).empty(); });
  }
  EXPECT_EQ(Sweep(yaml, {}, {.environment = options.environment}).exit_code, 0);
}

}  // namespace
}  // namespace attune

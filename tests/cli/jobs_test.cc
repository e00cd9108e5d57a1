// attune jobs: what its commands print and write, and how they end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "expect_refused.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class JobsTest : public ::testing::Test {
 protected:
  // Runs a file of jobs with this content. Processors that share a core are no fault of these tests.
  Outcome Jobs(const std::string& yaml, const std::vector<std::string>& more = {},
               const RunOptions& options = {}) {
    std::vector<std::string> arguments = {
        "jobs",        "run", folder_.Write("jobs.yaml", yaml), "--state", folder_ / "jobs.db",
        "--isolation", "none"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunAttune(arguments, options);
  }

  const TemporaryFolder folder_;
};
using TuneJobsTest = JobsTest;

constexpr char kMocks[] = R"(
jobs:
  - id: a
    kind: mock
    repeat: 3
    stages: &stages [{name: build, seconds: 0.02}, {name: time, device: true, seconds: 0.05}]
  - {id: b, kind: mock, repeat: 2, stages: *stages, owner: eve}
)";

TEST_F(JobsTest, RunsJobsSideBySideAndSimulatesThemAgain) {
  const std::string trace = folder_ / "trace.json", page = folder_ / "page.html";
  const Outcome run = Jobs(kMocks, {"--json", trace, "--report", page});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("a    done"), HasSubstr("2 jobs in "), HasSubstr("by predictive")));
  EXPECT_THAT(run.err, HasSubstr("attune: note: a is done: 6 of 6 stages"));
  EXPECT_THAT(ReadAll(page), AllOf(HasSubstr("<svg"), HasSubstr("build"), Not(HasSubstr("http-equiv"))));
  const json schedule = json::parse(ReadAll(trace));
  EXPECT_EQ(schedule["jobs"][1]["owner"], "eve");
  EXPECT_EQ(schedule["stages"].size(), 12u);  // two of them open the jobs

  const Outcome simulated =
      RunAttune({"jobs", "simulate", "--trace", trace, "--jobs", "40", "--devices", "3"});
  ASSERT_EQ(simulated.exit_code, 0) << simulated.err;
  EXPECT_THAT(simulated.out, AllOf(HasSubstr("40 jobs with 240 stages"), HasSubstr("sequential"),
                                   HasSubstr("back_to_back")));
}

TEST_F(JobsTest, RefusesWhatCannotBeRunInOneSentence) {
  const std::string file = folder_ / "jobs.yaml";
  ExpectRefused(Jobs("jobs: [{kind: mock, stages: ["), file + ": line 1: is not YAML");
  ExpectRefused(Jobs("jobs: [{kind: dance}]"),
                "there is no kind \"dance\"; there are tuning, quantization, program, mock");
  ExpectRefused(Jobs(kMocks, {"--strategy", "lucky"}),
                "strategy: \"lucky\" is none of sequential, dedicated");
  ExpectRefused(Jobs("strategy: lucky\n" + std::string(kMocks)), file + ": strategy: \"lucky\" is none of");
  ExpectRefused(Jobs("jobs: [{kind: mock, stages: [{name: s, processors: 99999}]}]"),
                "processors: is not a whole number");
  ExpectRefused(Jobs("jobs: [{kind: mock, stages: [{name: s, processors: 60000}]}]"),
                "job \"mock\": no machine has what its stage \"s\" needs: 60000 processors");
  ExpectRefused(RunAttune({"jobs", "run", folder_ / "none.yaml"}), folder_ / "none.yaml");
  ExpectRefused(Jobs(kMocks, {"--set", "trials"}), "--set trials: is not of the form trials=200");
  const std::string text = folder_.Write("text.db", "this is no database at all, but long enough to be one");
  ExpectRefused(
      RunAttune({"jobs", "run", folder_.Write("m.yaml", kMocks), "--state", text, "--isolation", "none"}),
      text);
}

TEST_F(JobsTest, WhatIsForServersIsNotRunHere) {
  ExpectRefused(Jobs("jobs: [{kind: program, program: p}]"),
                "job \"program\": program: is the name of a program on a server's runners");
}

TEST_F(JobsTest, WrongSubmissionsAreRefusedBeforeAServerIsAsked) {
  const std::string file = folder_.Write("jobs.yaml", kMocks);
  ExpectRefused(RunAttune({"jobs", "submit", folder_ / "none.yaml"}), folder_ / "none.yaml");
  ExpectRefused(RunAttune({"jobs", "submit", file, "model.onnx"}), "give one file of jobs, or models");
  ExpectRefused(RunAttune({"jobs", "submit", file, "--set", "trials"}),
                "--set trials: is not of the form trials=200");
  const std::vector<std::vector<std::string>> wrong = {{"submit"},
                                                       {"submit", file, "--deadline", "soon"},
                                                       {"submit", file, "--priority", "2000000"},
                                                       {"show"},
                                                       {"logs", "a", "b"},
                                                       {"cancel"},
                                                       {"result"}};
  for (std::vector<std::string> arguments : wrong) {
    arguments.insert(arguments.begin(), "jobs");
    EXPECT_EQ(RunAttune(arguments).exit_code, 2) << arguments[1];
  }
}

TEST_F(JobsTest, WithoutALoginThereIsNoServer) {
  RunOptions options;
  options.environment = {{"ATTUNE_SERVERS", folder_ / "none"}};
  const std::string model = folder_.Write("a.onnx", ConvolutionsModel());
  const std::vector<std::vector<std::string>> all = {{"submit", model}, {"list"},        {"show", "a"},
                                                     {"logs", "a"},     {"cancel", "a"}, {"result", "a"}};
  for (std::vector<std::string> arguments : all) {
    arguments.insert(arguments.begin(), "jobs");
    ExpectRefused(RunAttune(arguments, options), "attune login");
  }
}

TEST_F(JobsTest, TellsWhichJobHasFailedAndRunsTheOthers) {
  const Outcome run = Jobs(std::string(kMocks) + "  - {id: c, model: missing.onnx, trials: 5}\n");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, AllOf(HasSubstr("c has failed: "), HasSubstr("missing.onnx"),
                             HasSubstr("1 of 3 jobs have failed")));
  EXPECT_THAT(run.out, HasSubstr("a    done"));
}

TEST_F(JobsTest, GoesOnAfterAnInterrupt) {
  const std::string slow = "jobs: [{id: a, kind: mock, repeat: 40, stages: [{name: s, seconds: 0.05}]}]";
  const std::string state = folder_ / "jobs.db", trace = folder_ / "trace.json";
  RunOptions options;
  int asked = 0;
  options.signal = SIGINT;
  options.signal_when = [&] { return std::filesystem::exists(state + ".files") && ++asked > 60; };
  const Outcome stopped = Jobs(slow, {"--json", trace}, options);
  EXPECT_EQ(stopped.exit_code, 1) << stopped.out;
  EXPECT_THAT(stopped.err, HasSubstr("stopped with 1 of 1 jobs unfinished; the same command resumes them"));
  EXPECT_EQ(json::parse(ReadAll(trace))["jobs"][0]["state"], "unfinished");
  const Outcome again = Jobs(slow, {"--json", trace});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.err, HasSubstr("resuming schedule"));
  EXPECT_EQ(json::parse(ReadAll(trace))["jobs"][0]["position"], 40);
}

TEST_F(JobsTest, DrawsASmallPictureOnATerminal) {
  const Outcome run = Jobs(kMocks, {}, {.on_terminal = true});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("2 jobs are over"));
}

TEST_F(TuneJobsTest, TunesModelsBesideAProgram) {
  folder_.Write("net.onnx", ConvolutionsModel());
  const std::string yaml = R"(
jobs:
  - {model: net.onnx, trials: 8, batch: 4, candidate_seconds: 0.02, records: records.db, output: net.atn, json: net.json}
  - {id: other, model: net.onnx, trials: 4, batch: 4, candidate_seconds: 0.02, seed: 1, records: records.db}
)";
  const Outcome run = Jobs(yaml);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(ReadAll(folder_ / "net.json"))["trials"], 8);
  EXPECT_EQ(RunAttune({"run", folder_ / "net.atn", "--input", "random:0"}).exit_code, 0);
  const Outcome list =
      RunAttune({"records", "list", "--runs", "--records", folder_ / "records.db", "--json", "-"});
  EXPECT_EQ(json::parse(list.out)["runs"].size(), 2u);
}

TEST_F(TuneJobsTest, TheTunedArtifactCarriesHowPicturesBecomeNumbers) {
  folder_.Write("net.onnx", ConvolutionsModel(/*channels=*/3));
  const Outcome run = Jobs(R"(
jobs:
  - {model: net.onnx, trials: 2, batch: 2, candidate_seconds: 0.02, records: records.db, output: net.atn, preprocess: tf}
)");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(RunAttune({"inspect", folder_ / "net.atn"}).out,
              HasSubstr("// picture mean=127.5 std=127.5 order=rgb resize=stretch of \"x\""));
}

}  // namespace
}  // namespace attune

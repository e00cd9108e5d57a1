// attune jobs submit, list, show, logs, cancel and result, with a server that a test plays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "expect_refused.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"
#include "service/client/fake_server_for_test.h"

namespace attune {
namespace {

using json = FakeServer::Json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMocks[] = R"(
jobs:
  - {id: a, kind: mock, stages: [{name: s}]}
  - {id: b, kind: mock, stages: [{name: s}], priority: 5}
)";

class JobsServerTest : public ::testing::Test {
 protected:
  Outcome Jobs(std::vector<std::string> arguments, RunOptions options = {}) {
    arguments.insert(arguments.begin(), "jobs");
    return Attune(arguments, options);
  }
  Outcome Attune(const std::vector<std::string>& arguments, RunOptions options = {}) {
    options.environment.insert(options.environment.end(), {{"ATTUNE_URL", server_.known().url},
                                                           {"ATTUNE_TOKEN", server_.known().token},
                                                           {"ATTUNE_SERVERS", folder_ / "servers.json"},
                                                           {"ATTUNE_SUBMISSIONS", folder_ / "submissions"}});
    return RunAttune(arguments, options);
  }
  static void AddStage(json& job, const std::string& name) {
    job["stages"].push_back({{"name", name},
                             {"outcome", "lost"},
                             {"runner", "node7"},
                             {"reason", "it was unplugged"},
                             {"waited_seconds", 0.5},
                             {"seconds", 12.25},
                             {"ended", "2026-03-01T12:06:00.000Z"}});
  }
  void AddFile(json& job, const std::string& name, const std::string& content) {
    job["files"].push_back({{"name", name}, {"sha256", Sha256Hex(content)}, {"bytes", content.size()}});
    server_.SetFile(content);
  }
  std::string Content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  const TemporaryFolder folder_;
  FakeServer server_;
};

TEST_F(JobsServerTest, SubmittedJobsHaveIds) {
  const std::string file = folder_.Write("jobs.yaml", kMocks), list = folder_ / "list.json";
  const Outcome submitted =
      Jobs({"submit", file, "--on", "desk", "--set", "seed=7", "--deadline", "1h", "--json", list});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  EXPECT_EQ(submitted.out, "a\nb\n");
  EXPECT_EQ(json::parse(Content("list.json"))["jobs"][1]["id"], "b");
  ASSERT_EQ(server_.taken().size(), 2u);
  const json job = server_.taken()[1];
  EXPECT_EQ(job["on"], "desk");
  EXPECT_EQ(job["priority"], 5);
  EXPECT_EQ(job["deadline_seconds"], 3600);
  EXPECT_EQ(job["settings"]["seed"], 7);
  EXPECT_FALSE(job.contains("agreement"));
  EXPECT_EQ(Jobs({"submit", file, "--priority", "-2"}).exit_code, 0);
  EXPECT_EQ(server_.taken()[3]["priority"], -2);
  const Outcome printed = Jobs({"submit", file, "--json", "-"});
  EXPECT_EQ(json::parse(printed.out)["jobs"].size(), 2u);
}

TEST_F(JobsServerTest, WaitsUntilAllAreOver) {
  RunOptions options;
  options.signal_when = [&] {
    if (server_.taken().size() < 2) return false;
    server_.SetJob(FakeServer::Job("a", "done"));
    server_.SetJob(FakeServer::Job("b", "failed"));
    return false;
  };
  const Outcome waited = Jobs(
      {"submit", folder_.Write("jobs.yaml", kMocks), "--wait", "--json", folder_ / "list.json"}, options);
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_EQ(waited.out, "a\nb\n");
  EXPECT_THAT(waited.err,
              AllOf(HasSubstr("note: a is done: 7 of 9 trials?"), HasSubstr("note: b has failed: no memory"),
                    HasSubstr("1 of 2 jobs have failed or were cancelled")));
  EXPECT_EQ(json::parse(Content("list.json"))["jobs"][1]["state"], "failed");
}

TEST_F(JobsServerTest, AnInterruptLeavesTheJobs) {
  RunOptions options;
  options.signal = SIGINT;
  options.signal_when = [&] { return server_.questions() > 0; };
  const Outcome waited = Jobs({"submit", folder_.Write("jobs.yaml", kMocks), "--wait"}, options);
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_THAT(waited.err, HasSubstr("stopped waiting; the jobs continue on the server"));
  EXPECT_THAT(Jobs({"list"}).out, AllOf(HasSubstr("waiting"), Not(HasSubstr("cancelled"))));
}

TEST_F(JobsServerTest, ShowsJobs) {
  EXPECT_THAT(Jobs({"list"}).out, HasSubstr("no unfinished jobs; --all"));
  server_.SetJob(FakeServer::Job("net", "waiting"));
  json over = FakeServer::Job("over", "failed");
  AddStage(over, "measure");
  AddFile(over, "out/net.atn", "bytes");
  server_.SetJob(over);
  const Outcome listed = Jobs({"list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("net  tuning  waiting  build, waits for a runner"),
                                HasSubstr("7 of 9 trials?"), Not(HasSubstr("over"))));
  EXPECT_THAT(Jobs({"list", "--all"}).out, HasSubstr("no memory"));
  EXPECT_EQ(json::parse(Jobs({"list", "--all", "--json", "-"}).out)["jobs"].size(), 2u);
  const Outcome shown = Jobs({"show", "over"});
  EXPECT_THAT(shown.out, AllOf(HasSubstr("no memory"), HasSubstr("measure"), HasSubstr("it was unplugged"),
                               HasSubstr("out/net.atn"), HasSubstr("5 B")));
  const json all = json::parse(Jobs({"show", "over", "--json", "-"}).out);
  EXPECT_EQ(all["stages"][0]["reason"], "it was unplugged");
  EXPECT_EQ(all["files"][0]["bytes"], 5);
  EXPECT_EQ(all["result"]["speedup"], 1.5);
  ExpectRefused(Jobs({"show", "none"}), "there is no such job");
}

TEST_F(JobsServerTest, FollowsAJobUntilItIsOver) {
  json detail = FakeServer::Job("net", "running");
  AddStage(detail, "build");
  server_.SetJob(detail);
  const Outcome now = Jobs({"logs", "net"});
  EXPECT_EQ(Lines(now.out), 1);
  EXPECT_THAT(now.out, AllOf(HasSubstr("  build "), HasSubstr("12.2 s  node7  it was unplugged")));
  const int before = server_.questions();
  RunOptions options;
  options.signal_when = [&] {
    if (server_.questions() < before + 2) return false;
    json over = FakeServer::Job("net", "done");
    AddStage(over, "build");
    AddStage(over, "measure");
    server_.SetJob(over);
    return false;
  };
  const Outcome followed = Jobs({"logs", "net", "--follow"}, options);
  EXPECT_EQ(followed.exit_code, 0) << followed.err;
  EXPECT_EQ(Lines(followed.out), 2);
  EXPECT_THAT(followed.out, AllOf(HasSubstr("  build "), HasSubstr("  measure ")));
  EXPECT_THAT(followed.err, AllOf(HasSubstr("net: build; 7 of 9 trials?"), HasSubstr("net is done")));
}

TEST_F(JobsServerTest, CancelsJobs) {
  server_.SetJob(FakeServer::Job("net", "running"));
  const Outcome cancelled = Jobs({"cancel", "none", "net"});
  EXPECT_EQ(cancelled.exit_code, 1);
  EXPECT_EQ(cancelled.out, "net: cancelled\n");
  EXPECT_THAT(cancelled.err, HasSubstr("none: there is no such job"));
}

TEST_F(JobsServerTest, BringsWhatAJobHasWritten) {
  json detail = FakeServer::Job("net", "done");
  AddFile(detail, "in/model/net.onnx", "model");
  AddFile(detail, "notes", "notes");
  AddFile(detail, "out/quantized/a.onnx", "bytes");
  AddFile(detail, "out/result.json", "bytes");
  server_.SetJob(detail);
  const Outcome brought = Jobs({"result", "net", "-o", folder_ / "net"});
  ASSERT_EQ(brought.exit_code, 0) << brought.err;
  EXPECT_THAT(brought.out,
              AllOf(HasSubstr("speedup   1.5"), HasSubstr("more      tasks (--json FILE has them)"),
                    HasSubstr(folder_ / "net/result.json"), Not(HasSubstr("notes"))));
  EXPECT_EQ(Content("net/quantized/a.onnx"), "bytes");
  EXPECT_EQ(Content("net/result.json"), "bytes");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "net"), {}), 2);
  const json all = json::parse(Jobs({"result", "net", "-o", folder_ / "net", "--json", "-"}).out);
  EXPECT_EQ(all["files"][1]["name"], folder_ / "net/result.json");
}

TEST_F(JobsServerTest, WhatHasNoResultSaysSo) {
  server_.SetJob(FakeServer::Job("net", "running"));
  ExpectRefused(Jobs({"result", "net"}), "net is not over: build; attune jobs logs net --follow waits");
  server_.SetJob(FakeServer::Job("net", "failed"));
  ExpectRefused(Jobs({"result", "net"}), "net has failed: no memory");
  server_.SetJob(FakeServer::Job("net", "cancelled"));
  ExpectRefused(Jobs({"result", "net"}), "net was cancelled");
}

TEST_F(JobsServerTest, AHostileServerWritesNothingElsewhere) {
  json detail = FakeServer::Job("net", "done");
  AddFile(detail, "out/../../secret", "bytes");
  server_.SetJob(detail);
  ExpectRefused(Jobs({"result", "net", "-o", folder_ / "a/net"}), "is not a name of a file of a job");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
}

TEST_F(JobsServerTest, AnAgreementIsAskedFor) {
  const std::string file = folder_.Write("jobs.yaml", "jobs: [{id: a, kind: mock, stages: [{name: s}]}]");
  ASSERT_EQ(Jobs({"submit", file, "--latency", "5ms", "--p99", "0.007s", "--accuracy-loss", "1%", "--size",
                  "2MiB", "--deadline", "30m", "--device-time", "10m", "--priority", "urgent"})
                .exit_code,
            0);
  const json agreement = {{"latency_ms", {{"mean", 5}, {"p99", 7}}},
                          {"accuracy_loss", 0.01},
                          {"size_bytes", 2 << 20},
                          {"deadline_seconds", 1800},
                          {"device_seconds", 600},
                          {"priority", "urgent"}};
  EXPECT_EQ(server_.taken()[0]["agreement"], agreement);
  const Outcome predicted = Jobs({"predict", file, "--latency", "5ms"});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out,
              AllOf(HasSubstr("latency_mean         5  expected          0.9     3.5       4")));
  EXPECT_THAT(predicted.out,
              AllOf(HasSubstr("a: renegotiated: the deadline is close"), HasSubstr("10000000"),
                    HasSubstr("236800"), HasSubstr("  latency_mean: 12 networks; 3 devices\n"),
                    HasSubstr("would be promised: size_bytes 25000000, with a probability of 0.8\n"),
                    Not(HasSubstr("e+"))));
  EXPECT_EQ(json::parse(Jobs({"predict", file, "--latency", "5ms", "--json", "-"}).out)["predictions"].size(),
            1u);
  EXPECT_EQ(server_.taken().size(), 1u);
  for (const auto& [flag, value] : {std::pair("--latency", "5"), std::pair("--accuracy-loss", "some"),
                                    std::pair("--size", "-1MB"), std::pair("--priority", "1e9")})
    EXPECT_EQ(Jobs({"submit", file, flag, value}).exit_code, 2) << flag;
  json job = FakeServer::Job("net", "running");
  job["promises"] = {{{"name", "latency_p99"}, {"limit", 7}, {"state", "at_risk"}, {"probability", 0.25}}};
  server_.SetJob(job);
  EXPECT_THAT(Jobs({"show", "net"}).out, HasSubstr("latency_p99      7  at_risk         0.25"));
}

TEST_F(JobsServerTest, ADeadlineAloneIsAPromiseOfJobsThatHaveSome) {
  folder_.Write("net.onnx", std::string("\x08\x08\x3A\0", 4));  // a version, and a graph of nothing
  const std::string file = folder_.Write(
      "jobs.yaml",
      "jobs: [{id: a, kind: mock, stages: [{name: s}]}, {id: b, kind: tuning, model: net.onnx}]");
  const Outcome submitted = Jobs({"submit", file, "--on", "desk", "--deadline", "30m"});
  ASSERT_EQ(submitted.exit_code, 0) << submitted.err;
  ASSERT_EQ(server_.taken().size(), 2u);
  EXPECT_FALSE(server_.taken()[0].contains("agreement"));
  EXPECT_EQ(server_.taken()[0]["deadline_seconds"], 1800);
  EXPECT_EQ(server_.taken()[1]["agreement"], json({{"deadline_seconds", 1800}}));
}

TEST_F(JobsServerTest, AShownJobHasItsGainAndFoldsItsStages) {
  json job = FakeServer::Job("net", "done");
  job["result"] = {{"untuned_ms", 3.4831234567}, {"tuned_ms", 2.0}, {"seconds", 50.39633008099918}};
  for (const char* name : {"open", "build", "time", "build", "time", "build", "time"})
    job["stages"].push_back({{"name", name},
                             {"outcome", "done"},
                             {"runner", "r"},
                             {"reason", ""},
                             {"waited_seconds", 0.5},
                             {"seconds", 2},
                             {"ended", "2026-03-01T12:05:09.000Z"}});
  server_.SetJob(job);
  const std::string shown = Jobs({"show", "net"}).out;
  EXPECT_THAT(
      shown,
      AllOf(HasSubstr("1.74 times as fast: the kernels take 2 ms together, and the baseline's 3.483 ms"),
            HasSubstr("build   done         3     1.5      6.0"), HasSubstr("--stages shows each of them")));
  const std::string all = Jobs({"show", "net", "--stages"}).out;
  EXPECT_EQ(Lines(all) - Lines(shown), 3);
  const std::string result = Jobs({"result", "net", "-o", folder_ / "net"}).out;
  EXPECT_THAT(result,
              AllOf(HasSubstr("  50.4\n"), HasSubstr("1.74 times as fast"), Not(HasSubstr("50.396"))));
}

TEST_F(JobsServerTest, AResultWithoutAGainSaysSo) {
  json job = FakeServer::Job("net", "done");
  job["result"] = {{"untuned_ms", 0}, {"tuned_ms", 0}, {"seconds", 50}};
  server_.SetJob(job);
  const std::string result = Jobs({"result", "net", "-o", folder_ / "net"}).out;
  EXPECT_THAT(result, AllOf(HasSubstr("nothing faster was found"), Not(HasSubstr("tuned_ms"))));
  job["result"] = {{"seconds", 50}};
  server_.SetJob(job);
  EXPECT_THAT(Jobs({"result", "net", "-o", folder_ / "net"}).out, Not(HasSubstr("nothing faster")));
}

TEST_F(JobsServerTest, ARefusedSubmissionLeavesNothingBehind) {
  const std::string file = folder_.Write("jobs.yaml", kMocks);
  server_.refusals = 1;
  ExpectRefused(Jobs({"submit", file}), "below the bound");
  const Outcome other = Jobs({"submit", file, "--priority", "3"});
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.err, Not(HasSubstr("an earlier submission")));
  EXPECT_EQ(server_.taken().size(), 2u);
}

TEST_F(JobsServerTest, ASubmissionThatWasCutOffGoesOn) {
  const std::string file = folder_.Write("jobs.yaml", kMocks);
  server_.lost_answers = 100;
  RunOptions options;
  options.signal = SIGKILL;
  options.signal_when = [&] { return !server_.taken().empty(); };
  EXPECT_NE(Jobs({"submit", file}, options).exit_code, 0);
  server_.lost_answers = 0;
  const Outcome again = Jobs({"submit", file});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("an earlier submission"));
  EXPECT_EQ(again.out, "a\nb\n");
  EXPECT_EQ(server_.taken().size(), 2u);
}

TEST_F(JobsServerTest, ALoginIsKept) {
  const std::string token = folder_.Write("token", "attune_test\n");
  std::filesystem::permissions(token, std::filesystem::perms::owner_read);
  RunOptions nobody;
  nobody.environment = {
      {"ATTUNE_URL", ""}, {"ATTUNE_TOKEN", ""}, {"ATTUNE_SERVERS", folder_ / "servers.json"}};
  const auto run = [&](const std::vector<std::string>& arguments) { return RunAttune(arguments, nobody); };
  const std::string url = server_.known().url;
  ExpectRefused(run({"jobs", "list"}), "no server is known");
  ExpectRefused(run({"jobs", "list", "--server", url}), "no token for " + url + " is known");
  ExpectRefused(run({"jobs", "list", "--server", "http://host:1"}), "in the clear");
  EXPECT_EQ(run({"jobs", "list", "--server", url, "--token-file", token}).exit_code, 0);
  const Outcome login = run({"login", url, "--token-file", token});
  ASSERT_EQ(login.exit_code, 0) << login.err;
  EXPECT_THAT(login.out, HasSubstr("knows you as test of tenant ann, with the role member"));
  EXPECT_EQ(run({"jobs", "list"}).exit_code, 0);
  EXPECT_EQ(run({"logout"}).exit_code, 0);
  ExpectRefused(run({"jobs", "list"}), "no server is known");
  std::filesystem::permissions(token, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  ExpectRefused(run({"login", url, "--token-file", token}), "token");
}

}  // namespace
}  // namespace attune

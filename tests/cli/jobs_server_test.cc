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

namespace proto = jobs_service_proto;
using nlohmann::json;
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
  JobsServerTest() { EXPECT_TRUE(SaveCredentials(folder_ / "fleet", server_.credentials()).ok()); }

  Outcome Jobs(std::vector<std::string> arguments, RunOptions options = {}) {
    arguments.insert(arguments.begin(), "jobs");
    options.environment = {{"ATTUNE_FLEET", folder_ / "fleet"}};
    return RunAttune(arguments, options);
  }
  static proto::JobDetail Detail(const std::string& id, const std::string& state) {
    proto::JobDetail detail;
    proto::Job& job = *detail.mutable_job();
    job.set_id(id);
    job.set_kind("tuning");
    job.set_owner("ann");
    job.set_state(state);
    if (state != "waiting" && state != "running") job.set_ended_ms(2000);
    job.set_stage("build");
    job.set_waits_for("a runner");
    job.set_progress("7 of 9 trials\x1b");
    job.set_error(state == "failed" ? "no memory" : "");
    job.set_result(R"({"speedup": 1.5, "tasks": [1, 2], "none": null})");
    return detail;
  }
  static void AddStage(proto::JobDetail& detail, const std::string& name) {
    proto::StageOfJob& stage = *detail.add_stages();
    stage.set_name(name);
    stage.set_outcome("lost");
    stage.set_runner("node7");
    stage.set_reason("it was unplugged");
    stage.set_seconds(12.25);
    stage.set_end_ms(1000);
  }
  void AddFile(proto::JobDetail& detail, const std::string& name, const std::string& content) {
    proto::JobFile& file = *detail.add_files();
    file.set_name(name);
    file.set_digest(Sha256Hex(content));
    file.set_bytes(std::ssize(content));
    server_.jobs.SetFile(content);
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
  ASSERT_EQ(server_.jobs.taken().size(), 1u);
  const proto::SubmittedJob job = server_.jobs.taken()[0].jobs(1);
  EXPECT_EQ(job.on(), "desk");
  EXPECT_EQ(job.priority(), 5);
  EXPECT_EQ(job.deadline_seconds(), 3600);
  EXPECT_EQ(json::parse(job.settings())["seed"], 7);
  EXPECT_EQ(Jobs({"submit", file, "--priority", "-2"}).exit_code, 0);
  EXPECT_EQ(server_.jobs.taken()[1].jobs(1).priority(), -2);
  const Outcome printed = Jobs({"submit", file, "--json", "-"});
  EXPECT_EQ(json::parse(printed.out)["jobs"].size(), 2u);
}

TEST_F(JobsServerTest, WaitsUntilAllAreOver) {
  RunOptions options;
  options.signal_when = [&] {
    if (server_.jobs.taken().empty()) return false;
    server_.jobs.SetJob(Detail("a", "done"));
    server_.jobs.SetJob(Detail("b", "failed"));
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
  options.signal_when = [&] { return server_.jobs.questions() > 0; };
  const Outcome waited = Jobs({"submit", folder_.Write("jobs.yaml", kMocks), "--wait"}, options);
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_THAT(waited.err, HasSubstr("no longer waiting; the server goes on with the jobs"));
  EXPECT_THAT(Jobs({"list"}).out, AllOf(HasSubstr("waiting"), Not(HasSubstr("cancelled"))));
}

TEST_F(JobsServerTest, ShowsJobs) {
  EXPECT_THAT(Jobs({"list"}).out, HasSubstr("no unfinished jobs; --all"));
  server_.jobs.SetJob(Detail("net", "waiting"));
  proto::JobDetail over = Detail("over", "failed");
  AddStage(over, "measure");
  AddFile(over, "out/net.atn", "bytes");
  server_.jobs.SetJob(over);
  const Outcome listed = Jobs({"list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("net  tuning  ann    waiting  build, waits for a runner"),
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
  proto::JobDetail detail = Detail("net", "running");
  AddStage(detail, "build");
  server_.jobs.SetJob(detail);
  const Outcome now = Jobs({"logs", "net"});
  EXPECT_EQ(Lines(now.out), 1);
  EXPECT_THAT(now.out, AllOf(HasSubstr("  build "), HasSubstr("12.2 s  node7  it was unplugged")));
  const int before = server_.jobs.questions();
  RunOptions options;
  options.signal_when = [&] {
    if (server_.jobs.questions() < before + 2) return false;
    proto::JobDetail over = Detail("net", "done");
    AddStage(over, "build");
    AddStage(over, "measure");
    server_.jobs.SetJob(over);
    return false;
  };
  const Outcome followed = Jobs({"logs", "net", "--follow"}, options);
  EXPECT_EQ(followed.exit_code, 0) << followed.err;
  EXPECT_EQ(Lines(followed.out), 2);
  EXPECT_THAT(followed.out, AllOf(HasSubstr("  build "), HasSubstr("  measure ")));
  EXPECT_THAT(followed.err, AllOf(HasSubstr("net: build; 7 of 9 trials?"), HasSubstr("net is done")));
}

TEST_F(JobsServerTest, CancelsJobs) {
  server_.jobs.SetJob(Detail("net", "running"));
  const Outcome cancelled = Jobs({"cancel", "none", "net"});
  EXPECT_EQ(cancelled.exit_code, 1);
  EXPECT_EQ(cancelled.out, "net: cancelled\n");
  EXPECT_THAT(cancelled.err, HasSubstr("none: there is no such job"));
}

TEST_F(JobsServerTest, BringsWhatAJobHasWritten) {
  proto::JobDetail detail = Detail("net", "done");
  AddFile(detail, "in/model/net.onnx", "model");
  AddFile(detail, "notes", "notes");
  AddFile(detail, "out/quantized/a.onnx", "bytes");
  AddFile(detail, "out/result.json", "bytes");
  server_.jobs.SetJob(detail);
  const Outcome brought = Jobs({"result", "net", "-o", folder_ / "net"});
  ASSERT_EQ(brought.exit_code, 0) << brought.err;
  EXPECT_THAT(brought.out, AllOf(HasSubstr("speedup   1.5"), HasSubstr("tasks     2 entries"),
                                 HasSubstr(folder_ / "net/result.json"), Not(HasSubstr("notes"))));
  EXPECT_EQ(Content("net/quantized/a.onnx"), "bytes");
  EXPECT_EQ(Content("net/result.json"), "bytes");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "net"), {}), 2);
  const json all = json::parse(Jobs({"result", "net", "-o", folder_ / "net", "--json", "-"}).out);
  EXPECT_EQ(all["files"][1]["name"], folder_ / "net/result.json");
}

TEST_F(JobsServerTest, WhatHasNoResultSaysSo) {
  server_.jobs.SetJob(Detail("net", "running"));
  ExpectRefused(Jobs({"result", "net"}), "net is not over: build; attune jobs logs net --follow waits");
  server_.jobs.SetJob(Detail("net", "failed"));
  ExpectRefused(Jobs({"result", "net"}), "net has failed: no memory");
  server_.jobs.SetJob(Detail("net", "cancelled"));
  ExpectRefused(Jobs({"result", "net"}), "net was cancelled");
}

TEST_F(JobsServerTest, AHostileServerWritesNothingElsewhere) {
  proto::JobDetail detail = Detail("net", "done");
  AddFile(detail, "out/../../secret", "bytes");
  server_.jobs.SetJob(detail);
  ExpectRefused(Jobs({"result", "net", "-o", folder_ / "a/net"}), "is no name of a file of a job");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  detail = Detail("net", "done");
  detail.mutable_job()->set_result(std::string(100'000, '['));
  server_.jobs.SetJob(detail);
  const Outcome deep = Jobs({"result", "net", "-o", folder_ / "net"});
  EXPECT_EQ(deep.exit_code, 0) << deep.err;
}

}  // namespace
}  // namespace attune

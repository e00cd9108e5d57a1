#include "work/file/jobs_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto file = ParseJobsFile(text, "j.yaml", "/base");
  return file.ok() ? "" : std::string(file.status().message());
}

TEST(JobsFile, HasJobsWithSettings) {
  const auto file = ParseJobsFile(R"(
strategy: lockstep
building: 3
jobs:
  - {model: nets/resnet18.onnx, trials: 200, deadline: 1h30m, owner: eve, priority: -2}
  - {model: nets/resnet18.onnx, output: "007", share: 0.25, transfer_runs: false}
  - {id: sleep, kind: mock, stages: []}
)",
                                  "j.yaml", "/base");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->strategy, "lockstep");
  EXPECT_EQ(file->building, 3);
  ASSERT_EQ(file->jobs.size(), 3u);
  EXPECT_EQ(file->jobs[0].id, "resnet18");
  EXPECT_EQ(file->jobs[0].kind, "tuning");
  EXPECT_EQ(file->jobs[0].settings.at("trials"), 200);
  EXPECT_EQ(file->jobs[0].deadline_seconds, 5400);
  EXPECT_EQ(file->jobs[0].priority, -2);
  EXPECT_EQ(file->jobs[1].id, "resnet18-2");
  EXPECT_EQ(file->jobs[1].settings.at("output"), "007");
  EXPECT_EQ(file->jobs[1].settings.at("transfer_runs"), false);
  EXPECT_EQ(file->jobs[2].base, "/base");
}

TEST(JobsFile, ErrorsNameTheFileAndThePlace) {
  EXPECT_THAT(ErrorOf("jobs: [a, b"), HasSubstr("j.yaml: line 1: is not YAML"));
  EXPECT_THAT(ErrorOf("- a"), HasSubstr("j.yaml: is not a file of jobs"));
  EXPECT_THAT(ErrorOf("jobs: []"), HasSubstr("j.yaml: jobs: there are none"));
  EXPECT_THAT(ErrorOf("jobs: [{model: a}]\nbuildings: 1"), HasSubstr("j.yaml: buildings: is not a setting"));
  EXPECT_THAT(ErrorOf("jobs: [{model: a}]\nbuilding: many"),
              HasSubstr("building: is not a whole number from 1"));
  EXPECT_THAT(ErrorOf("jobs: [{id: a}, {id: a}]"), HasSubstr("j.yaml: job 2: id: \"a\" is there twice"));
  EXPECT_THAT(ErrorOf("jobs: [{deadline: soon}]"), HasSubstr("deadline: is not a time like 90s"));
  EXPECT_THAT(ErrorOf("jobs: [{a: 1, a: 2}]"), HasSubstr("line 1: \"a\" is there twice"));
}

// A small file whose aliases make billions of nodes ends soon.
TEST(JobsFile, IsBounded) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) text += ", " + before;
    text += "]\n";
  }
  EXPECT_THAT(ErrorOf(text), HasSubstr("is nested too deeply or too large"));
  EXPECT_THAT(ErrorOf("jobs: " + std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace attune

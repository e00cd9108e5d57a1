#include "sweep/results_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_split.h"
#include "sweep/sweep_for_test.h"

namespace attune {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

TEST(ResultsTableTest, QuotesFieldsAsTheStandardSays) {
  EXPECT_EQ(CsvField("plain text"), "plain text");
  EXPECT_EQ(CsvField(""), "");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(CsvField("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(CsvField("\r"), "\"\r\"");
}

TEST(ResultsTableTest, HasAllOptionsAndNamesEachColumnOnce) {
  const SweepPlan plan =
      SweepForTest("commands: [tune, bench]\noptions: {model: a, threads: 1}\nproduct: {tune.batch: [8, ~]}")
          .plan;
  const std::vector<std::string> columns = ResultColumns(plan);
  EXPECT_EQ(std::set<std::string>(columns.begin(), columns.end()).size(), columns.size());
  for (const char* name :
       {"run", "repeat", "tune.batch", "model", "threads", "state", "error", "median_ms", "tuning_seconds",
        "mean_time_seconds", "speedup", "artifact_bytes", "device_fingerprint"})
    EXPECT_THAT(columns, ::testing::Contains(name));
}

TEST(ResultsTableTest, WritesALineForEachRun) {
  const SweepPlan plan =
      SweepForTest("commands: [bench]\noptions: {model: 'a, b'}\nproduct: {threads: [1, ~]}").plan;
  SweepResult done;
  done.state = SweepRunState::kDone;
  done.inference = SummarizeLatencies({2, 1, 4, 3});
  done.artifact_bytes = 100;
  done.device = "a-processor";
  SweepResult failed;
  failed.state = SweepRunState::kFailed;
  failed.error = "bench: no \"x\"";
  const std::vector<std::string> lines = absl::StrSplit(ResultsCsv(plan, {done, failed}), "\r\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], StartsWith("run,repeat,threads,model,state,error,median_ms,median_low_ms,"));
  EXPECT_THAT(lines[1], StartsWith(plan.runs[0].id + ",1,1,\"a, b\",done,,2.5,1.0,4.0,2.5,"));
  EXPECT_THAT(lines[1], EndsWith(",100,a-processor,1.0"));
  EXPECT_THAT(lines[2],
              StartsWith(plan.runs[1].id + ",1,,\"a, b\",failed,\"bench: no \"\"x\"\"\",,,,,,,,,,1.0"));
  EXPECT_EQ(lines[3], "");

  const auto json = ResultsJson(plan, {done, failed});
  EXPECT_EQ(json["runs"][0]["median_ms"], 2.5);
  EXPECT_EQ(json["runs"][0]["fastest_ms"], 1);
  EXPECT_TRUE(json["runs"][1]["median_ms"].is_null());
}

}  // namespace
}  // namespace attune

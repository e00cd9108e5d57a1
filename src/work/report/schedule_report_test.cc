#include "work/report/schedule_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/html.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int64_t CountOf(std::string_view text, std::string_view part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

JobRecord JobOf(const std::string& id) {
  JobRecord job;
  job.spec.id = id;
  job.spec.kind = "mock";
  job.state = JobState::kDone;
  return job;
}

// Two jobs that build and time by turns on three processors, of which the last one is a device.
ScheduleRecord RecordOf(int num_stages, double seconds) {
  ScheduleRecord record = {.id = "s1", .strategy = "first_come", .host = {}, .jobs = {}, .stages = {}};
  record.host = {.processors = 3, .devices = {{"device/a", {2}}}};
  for (const char* id : {"one", "two"}) record.jobs.push_back(JobOf(id));
  const SecondsPrediction predicted = {0.5 * seconds, seconds, 2 * seconds};
  const JobStage build = {"build", {{kProcessorsKey, 2, false}}, 0, predicted};
  const JobStage time = {"time", {{"device/a", 1, true}}, 0, predicted};
  for (int i = 0; i < num_stages; ++i) {
    const bool builds = i % 2 == 0;
    record.stages.push_back({.job = i % 4 < 2 ? "one" : "two",
                             .stage = builds ? build : time,
                             .asked = (i - 0.5) * seconds,
                             .start = i * seconds,
                             .end = (i + 1) * seconds,
                             .processors = builds ? std::vector<int>{0, 1} : std::vector<int>{2},
                             .held = builds ? std::vector<int>{0, 1} : std::vector<int>{2}});
  }
  record.stages[0].asked = 0;
  return record;
}

TEST(ScheduleReport, ShowsStagesAndSums) {
  ScheduleRecord record = RecordOf(8, 10);
  record.stages[3].outcome = StageOutcome::kLost;
  const std::string html = ScheduleHtml(record);
  EXPECT_THAT(html, HasSubstr("Schedule s1"));
  EXPECT_THAT(html, HasSubstr("2 done, 0 failed, 0 unfinished after <b>80 s</b>"));
  EXPECT_THAT(html, HasSubstr("device/a, idle 50.0 %"));
  EXPECT_THAT(html, HasSubstr("one: build\n0 s to 10 s, took 10 s\npredicted 10 s (5 s to 20 s)"));
  EXPECT_THAT(html, HasSubstr("had waited 5 s"));
  EXPECT_THAT(html, HasSubstr("<td class='text'>mock</td><td class='text'>time</td><td>3</td><td>3</td>"
                              "<td>30 s</td><td>30 s</td><td>100.0 %</td>"));
  EXPECT_THAT(html, HasSubstr("<td class='text'>lost</td>"));
  // Four builds on two processors, four measurements on a processor and a device, eight stages of jobs.
  EXPECT_EQ(CountOf(html, "<rect"), 4 * 2 + 4 * 2 + 8 + 7);
  EXPECT_EQ(CountOf(html, "class='pale'"), 7);
  // Three rectangles of the stage that was lost.
  EXPECT_EQ(CountOf(html, "class='broken'"), 3);
}

TEST(ScheduleReport, EscapesTexts) {
  ScheduleRecord record = RecordOf(2, 1);
  const std::string evil = "<script>'\"&";
  record.id = record.strategy = record.jobs[0].spec.id = record.jobs[0].spec.owner = evil;
  record.jobs[0].progress = record.jobs[1].error = record.host.devices[0].key = evil;
  for (StageRecord& stage : record.stages) {
    stage.job = stage.stage.name = evil;
    stage.outcome = StageOutcome::kFailed;
  }
  const std::string html = ScheduleHtml(record);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;&#39;&quot;&amp;"));
}

TEST(ScheduleReport, StaysSmallWithManyStages) {
  const std::string html = ScheduleHtml(RecordOf(100000, 0.01));
  EXPECT_LT(CountOf(html, "<rect"), 12000);
  EXPECT_THAT(html, HasSubstr("more stages nearby"));
}

TEST(ScheduleReport, StaysSmallWithManyJobs) {
  ScheduleRecord record = RecordOf(8, 10);
  for (int i = 0; i < 5000; ++i) record.jobs.push_back(JobOf(absl::StrCat("job", i)));
  const std::string html = ScheduleHtml(record);
  EXPECT_THAT(html, HasSubstr("4802 more rows are not shown"));
  EXPECT_THAT(html, HasSubstr("3002 more are not shown"));
  EXPECT_LT(html.size(), 1u << 20);
}

TEST(ScheduleReport, OfNothing) { EXPECT_THAT(ScheduleHtml({}), HasSubstr("Nothing has run.")); }

TEST(Html, TextsOfDurations) {
  EXPECT_EQ(SecondsText(0), "0 s");
  EXPECT_EQ(SecondsText(0.25), "0.25 s");
  EXPECT_EQ(SecondsText(119), "119 s");
  EXPECT_EQ(SecondsText(210), "3.5 min");
  EXPECT_EQ(SecondsText(9000), "2.5 h");
  EXPECT_EQ(SecondsText(3600.0 * 12345), "12345 h");
}

}  // namespace
}  // namespace attune

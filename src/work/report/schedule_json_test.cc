#include "work/report/schedule_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "work/report/schedule_summary.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ScheduleRecord Example() {
  ScheduleRecord record = {.id = "s1", .strategy = "predictive", .host = {}, .jobs = {}, .stages = {}};
  record.host = {.processors = 4,
                 .caches = {0, 0, 1, 1},
                 .isolates_caches = true,
                 .keeps_device_processors = true,
                 .devices = {{"device/a", {2, 3}, {1}}},
                 .slots = {{"licences", 2}}};
  JobRecord done = {
      .spec = {.id = "one", .kind = "mock", .owner = "ann", .priority = 2, .deadline_seconds = 5},
      .state = JobState::kDone,
      .position = 2,
      .progress = "2 of 2",
      .result = "{\"x\":1}",
      .error = ""};
  done.spec.settings = {{"trials", 3}};
  done.spec.base = "/tmp";
  record.jobs = {std::move(done),
                 {.spec = {.id = "two", .kind = "mock"},
                  .state = JobState::kFailed,
                  .progress = "",
                  .result = "",
                  .error = "no \xff"}};
  const JobStage build = {"build", {{kProcessorsKey, 2, false}}, 1 << 20, {1, 2, 3}};
  const JobStage time = {"time", {{"device/a", 1, true}}, 0, {1, 2, 3}};
  record.stages = {{"one", build, 0, 0, 2, {0, 1}, {0, 1}, StageOutcome::kDone, {4, 5, 6}},
                   {"two", {"build", {}, 0, {}}, 0, 2, 4, {0}, {0}, StageOutcome::kFailed},
                   {"one", time, 2, 3, 4, {2}, {2, 3}, StageOutcome::kLost},
                   {"one", time, 4, 4, 8, {2}, {2, 3}, StageOutcome::kDone}};
  return record;
}

TEST(ScheduleJson, SumsUp) {
  const nlohmann::ordered_json json = ToJson(Example());
  EXPECT_EQ(json["makespan_seconds"], 8);
  EXPECT_EQ(json["missed_deadlines"], 1);
  EXPECT_EQ(json["predictions"]["stages"], 2);
  EXPECT_EQ(json["predictions"]["within"], 1);
  EXPECT_EQ(json["predictions"]["share_within"], 0.5);
  EXPECT_EQ(json["waiting_seconds"]["p99"], 2);
  EXPECT_EQ(json["jobs"][0]["stages"], 2);
  EXPECT_EQ(json["jobs"][0]["stages_lost"], 1);
  EXPECT_EQ(json["jobs"][0]["seconds"], 7);
  EXPECT_EQ(json["jobs"][0]["waited_seconds"], 1);
  EXPECT_EQ(json["resources"][0]["busy_seconds"], 4);
  EXPECT_EQ(json["resources"][4]["name"], "device/a");
  EXPECT_EQ(json["resources"][4]["idle_share"], 3.0 / 8);
}

TEST(ScheduleSummary, CountsTimeThatStagesShareOnce) {
  ScheduleRecord record = Example();
  record.stages.push_back(record.stages[0]);
  EXPECT_EQ(Summarize(record).resources[1].busy_seconds, 2);
}

TEST(ScheduleSummary, TellsDevicesWithTheSameKeyByTheirProcessors) {
  ScheduleRecord record = Example();
  record.host.devices.push_back({"device/a", {0, 1}});
  const ScheduleSummary summary = Summarize(record);
  EXPECT_EQ(summary.resources[4].busy_seconds, 5);
  EXPECT_EQ(summary.resources[5].busy_seconds, 0);
}

TEST(ScheduleSummary, OfNothing) {
  const ScheduleSummary summary = Summarize({});
  EXPECT_EQ(summary.makespan, 0);
  EXPECT_EQ(summary.IdleShare(true), 0);
}

TEST(ScheduleJson, RoundTrip) {
  const ScheduleRecord before = Example();
  const std::string text = ToJson(before).dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto json = ParseJson(text);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto after = ScheduleOfJson(*json);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(ToJson(*after).dump(1, ' ', false, nlohmann::json::error_handler_t::replace), text);
  EXPECT_EQ(after->host.memory_bytes, INT64_MAX);
  EXPECT_EQ(after->jobs[0].spec.settings, before.jobs[0].spec.settings);
  EXPECT_EQ(after->jobs[0].spec.deadline_seconds, 5);
  EXPECT_EQ(after->jobs[1].spec.deadline_seconds, std::nullopt);
  ASSERT_EQ(after->stages.size(), 4);
  EXPECT_EQ(after->stages[2].outcome, StageOutcome::kLost);
  EXPECT_EQ(after->stages[2].stage.needs, before.stages[2].stage.needs);
  EXPECT_EQ(after->stages[0].own.high, 6);
  EXPECT_THAT(after->host.devices[0].quiet, ElementsAre(1));
  EXPECT_THAT(after->stages[2].held, ElementsAre(2, 3));
}

// The error after the value at the pointer has been replaced.
std::string ErrorOf(const char* pointer, const nlohmann::json& value) {
  nlohmann::json json =
      *ParseJson(ToJson(Example()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  json[nlohmann::json::json_pointer(pointer)] = value;
  return std::string(ScheduleOfJson(json).status().message());
}

TEST(ScheduleJson, NamesTheFieldThatIsWrong) {
  EXPECT_EQ(ErrorOf("/stages/3/end", 3), "stages[3].end: is not a number of seconds from 4 to 1e+09");
  EXPECT_EQ(ErrorOf("/stages/3/end", "soon"), "stages[3].end: is not a number of seconds from 4 to 1e+09");
  EXPECT_EQ(ErrorOf("/stages/0/asked", -1), "stages[0].asked: is not a number of seconds from 0 to 1e+09");
  EXPECT_EQ(ErrorOf("/stages/0/asked", nullptr),
            "stages[0].asked: is not a number of seconds from 0 to 1e+09");
  EXPECT_EQ(ErrorOf("/stages/0/processors/1", 4), "stages[0].processors: is not a whole number from 0 to 3");
  EXPECT_EQ(ErrorOf("/stages/0/held", 4), "stages[0].held: is not a list");
  EXPECT_EQ(ErrorOf("/stages/0/needs/0/amount", 1e300),
            "stages[0].needs[0].amount: is not a whole number from 0 to 1000000000");
  EXPECT_EQ(ErrorOf("/stages/0/memory_bytes", UINT64_MAX),
            "stages[0].memory_bytes: is not a whole number from 0 to 9223372036854775807");
  EXPECT_EQ(ErrorOf("/stages/0/predicted_seconds", {3, 2, 1}), "stages[0].predicted_seconds: do not ascend");
  EXPECT_EQ(ErrorOf("/stages/0/predicted_seconds", {1, 2}),
            "stages[0].predicted_seconds: are not three numbers");
  EXPECT_EQ(ErrorOf("/stages/0/outcome", "great"), "stages[0].outcome: \"great\" is unknown");
  EXPECT_EQ(ErrorOf("/stages/0/job", "three"), "stages[0].job: is none of the jobs");
  EXPECT_EQ(ErrorOf("/stages/0", 7), "stages[0]: is not an object");
  EXPECT_EQ(ErrorOf("/jobs/1/id", "one"), "jobs[1].id: is that of another job too");
  EXPECT_EQ(ErrorOf("/jobs/1/id", ""), "jobs[1].id: is empty");
  EXPECT_EQ(ErrorOf("/jobs/1/state", true), "jobs[1].state: is not a text");
  EXPECT_EQ(ErrorOf("/host/processors", 100000), "host.processors: is not a whole number from 0 to 8192");
  EXPECT_EQ(ErrorOf("/host/caches", {1}), "host.caches: are not as many as the processors");
  EXPECT_EQ(ErrorOf("/host/devices/0/processors/0", 9),
            "host.devices[0].processors: is not a whole number from 0 to 3");
  EXPECT_EQ(ErrorOf("/host/slots", {1}), "host.slots: are not an object");
  EXPECT_EQ(ErrorOf("/host", nullptr), "host: is missing");
}

TEST(ScheduleJson, RefusesOtherDocuments) {
  for (const char* text : {"[]", "{}", "3", "null", "{\"schedule\":\"s\"}"}) {
    const auto json = ParseJson(text);
    ASSERT_TRUE(json.ok()) << text;
    EXPECT_FALSE(ScheduleOfJson(*json).ok()) << text;
  }
  EXPECT_THAT(ParseJson("{").status().message(), HasSubstr("is not JSON"));
  EXPECT_THAT(ParseJson(std::string(100000, '[') + std::string(100000, ']')).status().message(),
              HasSubstr("is nested more than 64 deep"));
}

}  // namespace
}  // namespace attune

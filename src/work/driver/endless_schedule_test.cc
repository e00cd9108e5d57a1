#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "work/driver/runner_worker.h"
#include "work/driver/schedule_driver_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST_F(EndlessScheduleTest, JobsWaitForHostsAndDevices) {
  Submit("first", "desk");
  Step();
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("no machine has"));
  driver_->AddHost(ComputingHost(), "one");
  Step(100);
  // They have built, and wait for a device.
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("elsewhere/desk"));
  EXPECT_EQ(driver_->jobs().size(), 3);
  driver_->AddDevice({"desk", "id"});
  Finish();
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, ADeviceElsewhereMeasuresForOneJobAtATime) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  const int second = driver_->AddDevice({"desk"});
  Submit("first", "desk");
  int64_t most = 0;
  bool removed = false;
  for (int i = 0; i < 10'000 && !driver_->jobs().empty(); ++i) {
    Step();
    const int64_t measuring = runners_->num_running("time");
    EXPECT_LE(measuring, 2);
    most = std::max(most, measuring);
    // It may be gone at any time, in use or not.
    if (most == 2 && !std::exchange(removed, true)) driver_->RemoveDevice(second);
  }
  EXPECT_EQ(most, 2);
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, StagesThatWaitForADeviceElsewhereHoldNoProcessors) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Finish();
  int64_t shared = 0, none = 0;
  for (const RunStage& run : runners_->commands()) {
    shared += run.lease == StageLease::kShared ? 1 : 0;
    none += run.lease == StageLease::kNone ? 1 : 0;
  }
  EXPECT_EQ(none, 45);  // as many as measure
  EXPECT_EQ(shared + none, static_cast<int64_t>(runners_->commands().size()));
}

TEST_F(EndlessScheduleTest, JobsGoOnElsewhereWhenTheirHostIsGone) {
  const int first = driver_->AddHost(ComputingHost(), "first");
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Step(20);
  EXPECT_EQ(runners_->hosts(), std::set<int>({first}));
  ASSERT_TRUE(driver_->RemoveHost(first).ok());
  EXPECT_EQ(runners_->num_runners(), 0);
  Step(5);
  const int second = driver_->AddHost(ComputingHost(), "second");
  Step(5);
  EXPECT_EQ(runners_->hosts(), std::set<int>({second}));
  Finish();
  ExpectAllDone(3);
  const auto stages = store_->Stages(schedule_, 1, INT64_MAX);
  ASSERT_TRUE(stages.ok()) << stages.status();
  // Each stage is done once, on the host that its runner was on.
  int64_t done = 0;
  std::string place;
  for (const StageRecord& stage : *stages) {
    if (stage.stage.name == kOpenStage) place = stage.place;
    EXPECT_EQ(stage.place, place);
    done += stage.stage.name != kOpenStage && stage.outcome == StageOutcome::kDone ? 1 : 0;
  }
  EXPECT_EQ(done, 40);
}

// No job is submitted once the second host is there, and the first one's processor is held beyond the test's
// end, so that only a job that moves can continue.
TEST_F(EndlessScheduleTest, AJobLeavesAHostThatIsBusyForOneThatIsIdle) {
  LocalHost host = ComputingHost();
  host.resources.processors = 1;
  host.numbers = host.building = {0};
  host.resources.slots["ann"] = kAnyAmount;
  Open("priority");
  driver_->AddHost(host, "first");
  constexpr char kShort[] = "jobs: [{kind: mock, repeat: 10, stages: [{name: build, seconds: 1}]}]";
  const size_t moved = Submit("short", "", "ann", kShort).begin()->first;
  Step(4);
  constexpr char kLong[] = "jobs: [{kind: mock, priority: 1000, stages: [{name: long, seconds: 1000}]}]";
  const size_t holds = Submit("long", "", "ann", kLong).begin()->first;
  const auto is_long = [&] {
    return driver_->jobs().at(holds).runs() && driver_->jobs().at(holds).stage().name == "long";
  };
  for (int i = 0; i < 10 && !is_long(); ++i) Step();
  ASSERT_TRUE(is_long());
  const JobManager& job = driver_->jobs().at(moved);
  ASSERT_TRUE(job.runner() != 0 && !job.runs());
  // It may not be on a host that is not its owner's.
  LocalHost others = host;
  others.resources.slots.clear();
  driver_->AddHost(others, "other");
  Step(20);
  ASSERT_TRUE(job.runner() != 0 && !job.runs());
  driver_->AddHost(host, "second");
  for (int i = 0; i < 50 && driver_->jobs().contains(moved); ++i) Step();
  EXPECT_FALSE(driver_->jobs().contains(moved));
  EXPECT_TRUE(is_long());
  const auto stages = store_->Stages(schedule_, moved, INT64_MAX);
  ASSERT_TRUE(stages.ok()) << stages.status();
  std::map<std::string, int> done, opened;  // stages, by place
  for (const StageRecord& stage : *stages) {
    EXPECT_EQ(stage.outcome, StageOutcome::kDone);
    ++(stage.stage.name == kOpenStage ? opened : done)[stage.place];
  }
  EXPECT_EQ(opened, (std::map<std::string, int>{{"first", 1}, {"second", 1}}));
  EXPECT_GT(done["first"], 0);
  EXPECT_EQ(done["first"] + done["second"], 10);
}

TEST_F(EndlessScheduleTest, GoesOnFromTheStore) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Step(30);
  const double before = driver_->Now();
  Open();
  EXPECT_NEAR(driver_->Now(), before, 5);
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Finish();
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, ASubmissionCountsOnce) {
  const auto first = Submit("one"), again = Submit("one"), other = Submit("two");
  ASSERT_EQ(first.size(), 3);
  EXPECT_EQ(first.begin()->second.spec.id, "a-1");
  EXPECT_EQ(first.begin()->first, again.begin()->first);
  EXPECT_EQ(other.begin()->second.spec.id, "a-4");
  EXPECT_EQ(Stored().size(), 6);
}

TEST_F(EndlessScheduleTest, JobsAreCancelledAnywhere) {
  // Before there is a host, while they wait, and while they run.
  Submit("first", "desk");
  driver_->AddDevice({"desk"});
  ASSERT_TRUE(driver_->Cancel(1).ok());
  EXPECT_EQ(Stored().at(1).state, JobState::kCancelled);
  driver_->AddHost(ComputingHost());
  const auto runs = [&](size_t number) { return driver_->jobs().at(number).runs(); };
  for (int i = 0; i < 100 && !runs(2) && !runs(3); ++i) Step();
  EXPECT_TRUE(runs(2) || runs(3));
  ASSERT_TRUE(driver_->Cancel(2).ok());
  ASSERT_TRUE(driver_->Cancel(3).ok());
  Finish();
  for (const auto& [number, job] : Stored()) EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_EQ(runners_->num_runners(), 0);
  EXPECT_TRUE(driver_->Cancel(3).ok());   // is over
  EXPECT_TRUE(driver_->Cancel(77).ok());  // is none
}

TEST_F(EndlessScheduleTest, JobsFailForAReasonAnywhere) {
  // Before there is a host, and while they wait or run.
  Submit("first", "desk");
  driver_->AddDevice({"desk"});
  ASSERT_TRUE(driver_->Fail(1, "too much").ok());
  driver_->AddHost(ComputingHost());
  const auto runs = [&](size_t number) { return driver_->jobs().at(number).runs(); };
  for (int i = 0; i < 100 && !runs(2) && !runs(3); ++i) Step();
  const size_t running = runs(2) ? 2 : 3;
  ASSERT_TRUE(driver_->Fail(2, "too much").ok());
  ASSERT_TRUE(driver_->Fail(3, "too much").ok());
  Finish();
  for (const auto& [number, job] : Stored()) {
    EXPECT_EQ(job.state, JobState::kFailed);
    EXPECT_EQ(job.error, "too much");
  }
  EXPECT_EQ(store_->Stages(schedule_, running, 1)->at(0).reason, "too much");
  EXPECT_EQ(runners_->num_runners(), 0);
  EXPECT_TRUE(driver_->Fail(3, "again").ok());  // is over
  EXPECT_EQ(Stored().at(3).error, "too much");
}

TEST_F(EndlessScheduleTest, EachJobThatIsOverIsToldOnce) {
  Submit("first", "desk");
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  ASSERT_TRUE(driver_->Cancel(1).ok());  // while it waits
  EXPECT_EQ(over_.size(), 1);
  for (int i = 0; i < 100 && !driver_->jobs().at(2).runs(); ++i) Step();
  ASSERT_TRUE(driver_->jobs().at(2).runs());
  ASSERT_TRUE(driver_->Cancel(2).ok());
  EXPECT_EQ(over_.size(), 1);  // its stage has not ended
  Finish();
  EXPECT_EQ(Stored().at(3).state, JobState::kDone);
  EXPECT_EQ(over_.size(), 3);
  for (const auto& [job, times] : over_) EXPECT_EQ(times, 1) << job;
}

TEST_F(EndlessScheduleTest, ADeviceMayChangeWhoMeasuresThere) {
  driver_->AddHost(ComputingHost());
  const int device = driver_->AddDevice({"attic"});
  Submit("first", "desk");
  Step(100);
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("desk"));
  driver_->ChangeDevice(device, {"attic", "desk"});
  Step(20);
  EXPECT_EQ(driver_->WaitsFor(1), "");
  // By whatever keys it is asked for, it measures for one at a time.
  Submit("second", "attic");
  for (int i = 0; i < 50; ++i) {
    Step();
    EXPECT_LE(runners_->num_running("time"), 1);
  }
  driver_->ChangeDevice(device, {"attic"});
  Step(100);
  EXPECT_EQ(Stored().at(1).state, JobState::kUnfinished);
  driver_->ChangeDevice(device, {"desk", "attic"});
  Finish();
  ExpectAllDone(6);
}

TEST_F(EndlessScheduleTest, OwnersShareTheRoomOfAHostThatTakesAll) {
  LocalHost host = ComputingHost();
  host.resources.slots["owner/*"] = kAnyAmount;
  driver_->AddHost(host);
  driver_->AddDevice({"desk"});
  for (int i = 0; i < 10; ++i) Submit(absl::StrCat("ann ", i), "desk", "owner/ann");
  Step(10);
  EXPECT_LE(runners_->num_runners(), 16);
  const size_t bobs = Submit("bob", "desk", "owner/bob").begin()->first;
  for (int i = 0; i < 10'000 && driver_->jobs().at(bobs).runner() == 0; ++i) Step();
  // Ann has not made room before, although she has as many that wait.
  EXPECT_GT(driver_->jobs().size(), 16 + 3);
  Finish();
  ExpectAllDone(33);
}

TEST_F(EndlessScheduleTest, HostsTakeTheJobsOfTheirOwnersAlone) {
  LocalHost host = ComputingHost();
  host.resources.slots["ann"] = 100;
  driver_->AddHost(host);
  driver_->AddDevice({"desk"});
  Submit("first", "desk", "bob");
  Submit("second", "desk", "ann");
  Step(2000);
  const auto jobs = Stored();
  for (const auto& [number, job] : jobs)
    EXPECT_EQ(job.state, job.spec.owner == "ann" ? JobState::kDone : JobState::kUnfinished);
}

TEST_F(EndlessScheduleTest, OwnersDoNotTakeOneAnothersRoom) {
  LocalHost ann = ComputingHost(), bob = ComputingHost();
  ann.resources.slots["ann"] = bob.resources.slots["bob"] = 100;
  const int of_ann = driver_->AddHost(ann);
  driver_->AddHost(bob);
  driver_->AddDevice({"desk"});
  for (int i = 0; i < 10; ++i) Submit(absl::StrCat("ann ", i), "desk", "ann");
  Step(10);
  EXPECT_LE(runners_->num_runners(), 16);  // as many as may begin on one host
  const auto jobs = Submit("bob", "desk", "bob");
  Step(10);
  EXPECT_NE(driver_->jobs().at(jobs.begin()->first).runner(), 0);
  // Jobs whose only host is gone say so.
  ASSERT_TRUE(driver_->RemoveHost(of_ann).ok());
  Step();
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("\"ann\""));
  driver_->AddHost(ann);
  Finish();
  ExpectAllDone(33);
}

TEST_F(EndlessScheduleTest, WhatIsNotTheJobsFaultDoesNotCount) {
  runners_->Die(1, /*opening=*/true, /*may_be_jobs_fault=*/false);
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Step(100);
  EXPECT_EQ(driver_->jobs().size(), 3);
  runners_->Die(0);
  Finish();
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, FilesAreThoseOfTheLatestStage) {
  JobRecord job;
  job.spec.id = job.spec.kind = "mock";
  job.spec.settings = {{"stages", nlohmann::json::array()}};
  job.files = {{"in/model", std::string(64, 'a'), 7}};
  const auto added = store_->AddJobs(schedule_, {{.key = "one", .jobs = {job}}});
  ASSERT_TRUE(added.ok()) << added.status();
  JobRecord stored = added->front().begin()->second;
  EXPECT_EQ(stored.files, job.files);
  EXPECT_GT(stored.submitted_ms, 0);
  stored.files.push_back({"out/result", std::string(64, 'b'), 9});
  stored.state = JobState::kDone;
  StageRecord stage;
  stage.place = "somewhere";
  stage.reason = "\xFF is no text";
  ASSERT_TRUE(store_->EndStage(schedule_, 1, stored, stage).ok());
  EXPECT_EQ(Stored().at(1).files, stored.files);
  EXPECT_GT(Stored().at(1).ended_ms, 0);
  EXPECT_EQ(store_->Stages(schedule_, 1, 10)->at(0).place, "somewhere");
}

}  // namespace
}  // namespace attune

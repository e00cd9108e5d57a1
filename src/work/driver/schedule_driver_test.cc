#include "work/driver/schedule_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "work/driver/schedule_driver_for_test.h"
#include "work/file/jobs_file.h"
#include "work/report/schedule_summary.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

// The number of done stages by job and name.
std::map<std::string, int> Done(const ScheduleRecord& schedule) {
  std::map<std::string, int> done;
  for (const StageRecord& stage : schedule.stages)
    done[stage.job + " " + stage.stage.name] += stage.outcome == StageOutcome::kDone ? 1 : 0;
  return done;
}

TEST_F(ScheduleDriverTest, InterleavesAndNeverMeasuresTwiceAtOnce) {
  FakeRunners runners(clock_);
  const ScheduleRecord schedule = RunWith("predictive", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kDone)));
  const auto done = Done(schedule);
  EXPECT_EQ(done.at("a time"), 20);
  EXPECT_EQ(done.at("c build"), 10);
  double last = 0;
  for (const StageRecord& stage : schedule.stages) {
    if (stage.stage.name != "time") continue;
    EXPECT_GE(stage.start, last);
    last = stage.end;
    EXPECT_THAT(stage.processors, ElementsAre(1));
  }
  // The device is the bottleneck: 45 stages of 2 s, and what precedes the first.
  EXPECT_LT(Summarize(schedule).makespan, 90 * 1.05);
  EXPECT_EQ(runners.num_runners(), 0u);
}

TEST_F(ScheduleDriverTest, RunsOneJobAfterTheOther) {
  FakeRunners runners(clock_);
  const ScheduleRecord schedule = RunWith("sequential", runners, Begin());
  EXPECT_GT(Summarize(schedule).makespan, 45 * 3);
}

TEST_F(ScheduleDriverTest, UncoordinatedStagesHaveNoLease) {
  FakeRunners runners(clock_);
  RunWith("uncoordinated", runners, Begin());
  EXPECT_THAT(runners.commands(), Each(Field(&RunStage::lease, StageLease::kNone)));
}

TEST_F(ScheduleDriverTest, JobsGoOnInOtherRunnersWhenSomeDie) {
  FakeRunners runners(clock_);
  runners.Die(0.1);
  const ScheduleRecord schedule = RunWith("first_come", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kDone)));
  const auto done = Done(schedule);
  EXPECT_EQ(done.at("a time"), 20);
  EXPECT_EQ(done.at("b build"), 15);
  EXPECT_GT(done.at("a open"), 1);
  EXPECT_TRUE(std::ranges::any_of(
      schedule.stages, [](const StageRecord& stage) { return stage.outcome == StageOutcome::kLost; }));
}

TEST_F(ScheduleDriverTest, AJobThatKillsItsRunnersFails) {
  FakeRunners runners(clock_);
  runners.Die(1);
  const ScheduleRecord schedule = RunWith("first_come", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kFailed)));
  EXPECT_THAT(schedule.jobs.front().error, HasSubstr("its runner ended 5 times in stage \"open\": signal 9"));
}

TEST_F(ScheduleDriverTest, AJobThatOpensWellAndAlwaysDiesThenFails) {
  FakeRunners runners(clock_);
  runners.Die(1, /*opening=*/false);
  const ScheduleRecord schedule = RunWith("first_come", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kFailed)));
  EXPECT_THAT(schedule.jobs.front().error, HasSubstr("its runner ended 5 times in stage \"build\""));
}

TEST_F(ScheduleDriverTest, GoesOnAfterItWasStoppedAnywhere) {
  for (int turn = 0;; ++turn) {
    FakeRunners runners(clock_);
    ScheduleDriver driver(Begin(), {.strategy = FindSchedulingStrategy("predictive"), .kinds = AllJobKinds()},
                          *store_, runners, clock_);
    driver.AddHost(host_);
    Cancellation cancellation;
    int left = 7 + turn;
    const absl::Status status = driver.Run(cancellation, [&] {
      if (--left == 0) cancellation.Cancel();
    });
    ASSERT_LT(turn, 500);
    if (!status.ok()) {
      EXPECT_TRUE(absl::IsCancelled(status)) << status;
      continue;
    }
    EXPECT_GT(turn, 3);
    const auto done = Done(driver.schedule());
    EXPECT_EQ(done.at("a time"), 20);
    EXPECT_EQ(done.at("b time"), 15);
    EXPECT_EQ(done.at("c build"), 10);
    EXPECT_TRUE(driver.Finish().ok());
    break;
  }
  // Finished, so that the same jobs begin anew.
  EXPECT_TRUE(Begin().stages.empty());
}

TEST_F(ScheduleDriverTest, OneProcessAloneRunsASchedule) {
  Begin();
  const auto other = SqlJobStore::Open(folder_ / "jobs.db", AllJobKinds());
  ASSERT_TRUE(other.ok()) << other.status();
  const auto again = (*other)->ResumeOrBegin("key", jobs_, "two");
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("are being run by another process"));
}

TEST_F(ScheduleDriverTest, PastStagesCarryTheirLabels) {
  FakeRunners runners(clock_);
  RunWith("predictive", runners, Begin());
  const auto stages = store_->PastStages(10);
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->size(), 10u);
  EXPECT_EQ(stages->back().kind, "mock");
  EXPECT_EQ(stages->back().host, "two");
  EXPECT_NEAR(stages->back().seconds, 2, 0.2);
}

TEST_F(ScheduleDriverTest, WhatCanNeverBeGrantedIsRefusedBeforeAnythingStarts) {
  const auto check = [&](const std::string& jobs) {
    const auto file = ParseJobsFile("jobs: [" + jobs + "]", "jobs.yaml", "/");
    return file.ok() ? std::string(CheckJobs(file->jobs, host_, AllJobKinds()).message())
                     : std::string(file.status().message());
  };
  EXPECT_EQ(check("{kind: mock, stages: [{name: s}]}"), "");
  EXPECT_THAT(check("{kind: mock, stages: [{name: s, processors: 2}]}"),
              HasSubstr("job \"mock\": no machine has what its stage \"s\" needs: 2 processors"));
  EXPECT_THAT(check("{model: m.onnx, threads: 2}"), HasSubstr("2 of \"device/two\" for itself"));
  EXPECT_THAT(check("{kind: poem}"), HasSubstr("there is no kind \"poem\"; there are tuning, quantization"));
  EXPECT_THAT(check("{model: m.onnx, trails: 2}"),
              HasSubstr("job \"m\": trails: is not a setting; there are batch"));
  EXPECT_THAT(check("{trials: 2}"), HasSubstr("model: is missing"));
  EXPECT_THAT(CheckJobs(TuningSpecs({"m\xFF.onnx"}), host_, AllJobKinds()).message(),
              HasSubstr("is not text in UTF-8"));
}

}  // namespace
}  // namespace attune

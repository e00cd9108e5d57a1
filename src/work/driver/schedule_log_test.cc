#include "work/driver/schedule_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

JobSpec Spec(const std::string& id) {
  return {.id = id, .kind = "mock", .settings = nlohmann::json::object()};
}

StageRecord Stage(const std::string& name, double start, double end) {
  StageRecord stage;
  stage.stage.name = name;
  stage.asked = stage.start = start;
  stage.end = end;
  return stage;
}

class ScheduleLogTest : public ::testing::Test {
 protected:
  ScheduleRecord Begin() {
    auto schedule = store_->ResumeOrBegin("key", specs_, "host");
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }

  const testing::TemporaryFolder folder_;
  const std::vector<JobSpec> specs_ = {Spec("a"), Spec("b")};
  ManualClock clock_;
  const std::unique_ptr<SqlJobStore> store_ = *SqlJobStore::Open(folder_ / "jobs.db", JobKinds({}));
};

TEST_F(ScheduleLogTest, MemoryHoldsWhatTheStoreHas) {
  std::vector<std::string> told;
  ScheduleLog log(Begin(), /*is_endless=*/false, *store_, clock_,
                  [&](const JobRecord& job, const StageRecord& stage) {
                    EXPECT_GT(stage.end_ms, 0);
                    told.push_back(job.spec.id + " " + stage.stage.name);
                  });
  JobRecord job = log.schedule().jobs[1];
  job.position = 1;
  ASSERT_TRUE(log.EndStage(1, job, Stage("build", 1, 3)).ok());
  EXPECT_THAT(told, ElementsAre("b build"));
  job.state = JobState::kFailed;
  job.error = "too much";
  ASSERT_TRUE(log.SetJob(1, job).ok());
  const ScheduleRecord stored = Begin();
  for (const ScheduleRecord& schedule : {log.schedule(), stored}) {
    ASSERT_EQ(schedule.jobs.size(), 2);
    EXPECT_EQ(schedule.jobs[0].state, JobState::kUnfinished);
    EXPECT_EQ(schedule.jobs[1].position, 1);
    EXPECT_EQ(schedule.jobs[1].error, "too much");
    ASSERT_EQ(schedule.stages.size(), 1);
    EXPECT_EQ(schedule.stages[0].end, 3);
  }
  // A finished schedule is not resumed.
  ASSERT_TRUE(log.Finish().ok());
  EXPECT_THAT(Begin().stages, IsEmpty());
}

TEST_F(ScheduleLogTest, TimeContinuesWhereTheScheduleHasStopped) {
  ScheduleLog first(Begin(), /*is_endless=*/false, *store_, clock_);
  EXPECT_EQ(first.Now(), 0);
  clock_.Advance(7);
  EXPECT_EQ(first.Now(), 7);
  ASSERT_TRUE(first.EndStage(0, first.schedule().jobs[0], Stage("build", 2, 5)).ok());
  clock_.Advance(100);
  ScheduleLog second(Begin(), /*is_endless=*/false, *store_, clock_);
  EXPECT_EQ(second.Now(), 5);
}

TEST_F(ScheduleLogTest, OfAnEndlessScheduleMemoryHoldsNothing) {
  auto schedule = store_->ResumeOrBeginEndless("server");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  const std::string id = schedule->id;
  std::vector<JobRecord> jobs(3);  // a whole job and its parts
  for (int part = 0; part <= 2; ++part) {
    JobSpec& spec = jobs[static_cast<size_t>(part)].spec;
    spec = Spec("a");
    spec.parts = 2;
    spec.part = part;
  }
  const auto added = store_->AddJobs(id, {{.key = "one", .jobs = jobs}});
  ASSERT_TRUE(added.ok()) << added.status();
  ASSERT_EQ(added->front().size(), 3);
  ScheduleLog log(*std::move(schedule), /*is_endless=*/true, *store_, clock_);
  const auto& [number, job] = *added->front().begin();
  ASSERT_TRUE(log.EndStage(number, job, Stage("build", 1, 3)).ok());
  EXPECT_THAT(log.schedule().jobs, IsEmpty());
  EXPECT_THAT(log.schedule().stages, IsEmpty());
  EXPECT_EQ(store_->Stages(id, number, 10)->size(), 1);
  const auto parts = log.PartsOf(number);
  ASSERT_TRUE(parts.ok()) << parts.status();
  ASSERT_EQ(parts->size(), 2);
  EXPECT_EQ(parts->begin()->second.spec.part, 1);
  EXPECT_FALSE(std::filesystem::exists(*log.FolderOf(number)));
}

TEST_F(ScheduleLogTest, EachJobHasAFolder) {
  const ScheduleLog log(Begin(), /*is_endless=*/false, *store_, clock_);
  const auto folder = log.FolderOf(1);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(std::filesystem::is_directory(*folder));
  EXPECT_NE(*folder, *log.FolderOf(0));
}

TEST_F(ScheduleLogTest, StagesOfALargerHostLoseWhatThisOneLacks) {
  ScheduleRecord schedule = Begin();
  StageRecord stage = Stage("build", 1, 3);
  stage.processors = {0, 5};
  stage.held = {1, 2};
  schedule.stages.push_back(stage);
  ScheduleLog log(schedule, /*is_endless=*/false, *store_, clock_);
  log.SetStrategy("priority");
  log.SetHost({.processors = 2});
  EXPECT_EQ(log.schedule().strategy, "priority");
  EXPECT_EQ(log.schedule().host.processors, 2);
  EXPECT_THAT(log.schedule().stages[0].processors, ElementsAre(0));
  EXPECT_THAT(log.schedule().stages[0].held, ElementsAre(1));
}

}  // namespace
}  // namespace attune

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "work/driver/runner_worker.h"
#include "work/driver/schedule_driver_for_test.h"
#include "work/file/jobs_file.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class SplitScheduleTest : public EndlessScheduleTest {
 protected:
  // A whole job and its parts, which differ only in that.
  void SubmitSplit(int parts, const std::string& owner = "") {
    const auto file = ParseJobsFile(kJobs, "jobs.yaml", folder_.path());
    std::vector<JobRecord> jobs;
    for (int part = 0; part <= parts; ++part) {
      JobRecord& job = jobs.emplace_back();
      job.spec = file->jobs.front();
      job.spec.owner = owner;
      job.spec.on = "desk";
      job.spec.parts = parts;
      job.spec.part = part;
    }
    const auto added =
        store_->AddJobs(schedule_, {{.key = absl::StrCat("split", ++num_split_), .jobs = jobs}});
    ASSERT_TRUE(added.ok()) << added.status();
    for (const auto& [number, job] : added->front()) driver_->Add(number, job);
  }
  std::map<size_t, JobRecord> PartsOf(size_t whole) {
    auto parts = store_->Jobs(schedule_, {.parts_of = whole});
    EXPECT_TRUE(parts.ok()) << parts.status();
    return *std::move(parts);
  }
  // How many stages of the job are done, without those that open it.
  int64_t Done(size_t number) {
    const auto stages = store_->Stages(schedule_, number, INT64_MAX);
    EXPECT_TRUE(stages.ok()) << stages.status();
    return std::ranges::count_if(*stages, [](const StageRecord& stage) {
      return stage.stage.name != kOpenStage && stage.outcome == StageOutcome::kDone;
    });
  }
  double FirstAsked(size_t number) {
    const auto stages = store_->Stages(schedule_, number, INT64_MAX);
    return stages.ok() && !stages->empty() ? stages->front().asked : 0;
  }
  double LastEnd(size_t number) {
    const auto stages = store_->Stages(schedule_, number, INT64_MAX);
    return stages.ok() && !stages->empty() ? stages->back().end : 0;
  }
  int num_split_ = 0;
};

TEST_F(SplitScheduleTest, PartsRunAtTheSameTimeOnDifferentHostsAndTheWholeFollows) {
  driver_->AddHost(ComputingHost(), "one");
  driver_->AddHost(ComputingHost(), "two");
  for (int i = 0; i < 2; ++i) driver_->AddDevice({"desk"});
  SubmitSplit(2);
  int64_t most = 0;
  std::set<int> hosts;
  for (int i = 0; i < 10'000 && !driver_->jobs().empty(); ++i) {
    Step();
    most = std::max(most, runners_->num_running("time"));
    hosts.merge(runners_->hosts());
  }
  EXPECT_EQ(most, 2);
  EXPECT_EQ(hosts.size(), 2);
  ExpectAllDone(1);  // parts are not listed
  const auto parts = PartsOf(1);
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(parts.at(2).spec.id, "a-1.part1");
  EXPECT_EQ(parts.at(3).spec.id, "a-1.part2");
  for (const auto& [number, part] : parts) {
    EXPECT_EQ(part.state, JobState::kDone) << part.error;
    EXPECT_LE(LastEnd(number), FirstAsked(1));
  }
}

TEST_F(SplitScheduleTest, RunnersDieAmidPartsAndNothingIsLostOrDoneTwice) {
  runners_->Die(0.2, /*opening=*/true, /*may_be_jobs_fault=*/false);
  driver_->AddHost(ComputingHost(), "one");
  const int second = driver_->AddHost(ComputingHost(), "two");
  for (int i = 0; i < 2; ++i) driver_->AddDevice({"desk"});
  SubmitSplit(2);
  Step(20);
  ASSERT_TRUE(driver_->RemoveHost(second).ok());
  Step(20);
  // The server starts again, too.
  Open();
  runners_->Die(0.2, /*opening=*/true, /*may_be_jobs_fault=*/false);
  driver_->AddHost(ComputingHost(), "three");
  for (int i = 0; i < 2; ++i) driver_->AddDevice({"desk"});
  Finish();
  ExpectAllDone(1);
  for (const size_t number : {1, 2, 3}) EXPECT_EQ(Done(number), 40);
}

TEST_F(SplitScheduleTest, APartThatFailsTakesTheOthersWithIt) {
  driver_->AddHost(ComputingHost());
  for (int i = 0; i < 3; ++i) driver_->AddDevice({"desk"});
  SubmitSplit(3);
  Step(20);
  ASSERT_TRUE(driver_->Cancel(3).ok());
  Finish();
  EXPECT_EQ(Stored().at(1).state, JobState::kFailed);
  EXPECT_THAT(Stored().at(1).error, HasSubstr("was cancelled"));
  for (const auto& [number, part] : PartsOf(1)) EXPECT_EQ(part.state, JobState::kCancelled);
}

TEST_F(SplitScheduleTest, CancellingTheWholeCancelsItsParts) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  SubmitSplit(2);
  Step(20);
  ASSERT_TRUE(driver_->Cancel(1).ok());
  Finish();
  EXPECT_EQ(Stored().at(1).state, JobState::kCancelled);
  for (const auto& [number, part] : PartsOf(1)) EXPECT_EQ(part.state, JobState::kCancelled);
  EXPECT_EQ(runners_->num_runners(), 0);
}

TEST_F(SplitScheduleTest, AWholeThatFailsSaysWhyAndCancelsItsParts) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  SubmitSplit(2);
  Step(20);
  ASSERT_TRUE(driver_->Fail(1, "too much").ok());
  Finish();
  EXPECT_EQ(Stored().at(1).state, JobState::kFailed);
  EXPECT_EQ(Stored().at(1).error, "too much");
  for (const auto& [number, part] : PartsOf(1)) EXPECT_EQ(part.state, JobState::kCancelled);
}

}  // namespace
}  // namespace attune

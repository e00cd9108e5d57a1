#include "work/driver/scheduled_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

NextStage Needing(const std::string& key) {
  return {.stage = {.name = "stage", .needs = {{.key = key}}, .memory_bytes = 0, .seconds = {}},
          .remaining = 1};
}

class ScheduledJobsTest : public ::testing::Test {
 protected:
  ScheduledJobsTest() { desk_ = jobs_.AddHost({.slots = {{"desk", 1}}}); }

  absl::Status Submit(size_t job, const std::string& key) {
    return jobs_.Submit(job, {.id = "job" + std::to_string(job)}, Needing(key), 0);
  }
  std::vector<size_t> Started() {
    std::vector<size_t> started;
    for (const auto& [job, holding] : jobs_.Decide(0)) started.push_back(job);
    return started;
  }

  ScheduledJobs jobs_{*FindSchedulingStrategy("first_come")};
  int desk_ = -1;
};

TEST_F(ScheduledJobsTest, AreThereUntilTheyHaveEnded) {
  // The numbers in the schedule have another order than the scheduler's.
  ASSERT_TRUE(Submit(30, "desk").ok());
  ASSERT_TRUE(Submit(20, "desk").ok());
  EXPECT_THAT(jobs_.Jobs(), ElementsAre(20, 30));
  EXPECT_THAT(Started(), ElementsAre(30));
  ASSERT_TRUE(jobs_.Done(30, Needing("desk"), 1).ok());
  EXPECT_THAT(Started(), ElementsAre(20));
  ASSERT_TRUE(jobs_.Done(20, std::nullopt, 2).ok());
  EXPECT_FALSE(jobs_.contains(20));
  EXPECT_THAT(Started(), ElementsAre(30));
  ASSERT_TRUE(jobs_.Done(30, std::nullopt, 3).ok());
  EXPECT_TRUE(jobs_.is_empty());
}

TEST_F(ScheduledJobsTest, LeaveWhenTheyAskForWhatNoHostHas) {
  EXPECT_THAT(Submit(1, "attic").message(), HasSubstr("\"attic\""));
  EXPECT_FALSE(jobs_.contains(1));
  ASSERT_TRUE(Submit(1, "desk").ok());
  EXPECT_FALSE(jobs_.Change(1, Needing("attic"), 0).ok());
  EXPECT_FALSE(jobs_.contains(1));
  ASSERT_TRUE(Submit(1, "desk").ok());
  EXPECT_THAT(Started(), ElementsAre(1));
  EXPECT_FALSE(jobs_.Done(1, Needing("attic"), 0).ok());
  EXPECT_TRUE(jobs_.is_empty());
  // Nothing of it is left in the scheduler.
  ASSERT_TRUE(Submit(2, "desk").ok());
  EXPECT_THAT(Started(), ElementsAre(2));
}

TEST_F(ScheduledJobsTest, TheSameIdIsThereOnce) {
  ASSERT_TRUE(Submit(1, "desk").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(jobs_.Submit(2, {.id = "job1"}, Needing("desk"), 0)));
  EXPECT_THAT(jobs_.Jobs(), ElementsAre(1));
}

TEST_F(ScheduledJobsTest, AreWithdrawnOneByOne) {
  ASSERT_TRUE(Submit(1, "desk").ok());
  ASSERT_TRUE(Submit(2, "desk").ok());
  jobs_.Withdraw(1);
  jobs_.Withdraw(1);
  EXPECT_THAT(Started(), ElementsAre(2));
}

TEST_F(ScheduledJobsTest, AreWithdrawnWhenTheirHostIsGone) {
  const int attic = jobs_.AddHost({.slots = {{"attic", 1}}});
  ASSERT_TRUE(Submit(1, "desk").ok());
  ASSERT_TRUE(Submit(2, "attic").ok());
  EXPECT_THAT(jobs_.WithdrawUngrantable(), IsEmpty());
  jobs_.RemoveHost(attic, 0);
  EXPECT_THAT(jobs_.WithdrawUngrantable(), ElementsAre(Pair(2, HasSubstr("job \"job2\": no machine has"))));
  EXPECT_THAT(jobs_.Jobs(), ElementsAre(1));
  jobs_.SetSlots(desk_, {{"attic", 1}});
  EXPECT_THAT(jobs_.WithdrawUngrantable(), ElementsAre(Pair(1, HasSubstr("\"desk\""))));
  EXPECT_TRUE(Submit(2, "attic").ok());
}

TEST(ScheduledJobs, TheStrategyDecides) {
  ScheduledJobs jobs(*FindSchedulingStrategy("priority"));
  EXPECT_EQ(jobs.strategy().name, "priority");
  jobs.AddHost({.slots = {{"desk", 1}}});
  ASSERT_TRUE(jobs.Submit(1, {.id = "low"}, Needing("desk"), 0).ok());
  ASSERT_TRUE(jobs.Submit(2, {.id = "high", .priority = 1}, Needing("desk"), 0).ok());
  const auto starts = jobs.Decide(0);
  ASSERT_EQ(starts.size(), 1);
  EXPECT_EQ(starts.front().first, 2);
}

}  // namespace
}  // namespace attune

#include "service/queue/job_control.h"

#include <gtest/gtest.h>

#include <string>

#include "service/queue/live_schedule_for_test.h"

namespace attune {
namespace {

class JobControlTest : public LiveScheduleTest {
 protected:
  JobControl control_{queue_, *files_};
};

TEST_F(JobControlTest, CancelsAJob) {
  Add("key", {MockJobOf("ann", "a")});
  const JobQuery query = {.id = "mock-1", .owner = "ann"};
  const auto cancelled = control_.Cancel(query, "test");
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state(), "cancelled");
  EXPECT_EQ(control_.Cancel(query, "test")->state(), "cancelled");
  EXPECT_TRUE(absl::IsNotFound(control_.Cancel({.id = "mock-1", .owner = "bob"}, "test").status()));
}

TEST_F(JobControlTest, AStoreThatFailsBreaksTheSchedule) {
  Add("key", {MockJobOf("ann", "a")});
  store_.Fail(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_TRUE(absl::IsResourceExhausted(control_.Cancel({.id = "mock-1", .owner = "ann"}, "test").status()));
  EXPECT_TRUE(absl::IsResourceExhausted(schedule_->broken()));
}

TEST_F(JobControlTest, RemovesAnOwnersJobsWithTheirFiles) {
  JobRecord done = MockJobOf("ann", "b");
  done.state = JobState::kDone;
  done.files = {Keep("b", "out/x", "x")};
  Add("anns", {MockJobOf("ann", "a"), done});
  Add("bobs", {MockJobOf("bob", "c")});
  const std::string digest = Keep("c", "in/x", "x").digest;
  // First they are cancelled, and then they go.
  EXPECT_FALSE(*control_.RemoveJobs("ann"));
  EXPECT_EQ(schedule_->view().Jobs({.owner = "ann"})->size(), 2);
  EXPECT_FALSE(*control_.RemoveJobs("ann"));
  EXPECT_TRUE(*control_.RemoveJobs("ann"));
  EXPECT_TRUE(schedule_->view().Jobs({.owner = "ann"})->empty());
  EXPECT_FALSE(files_->Has("b", digest));
  EXPECT_TRUE(files_->Has("c", digest));
  EXPECT_EQ(schedule_->view().Jobs({.owner = "bob"})->size(), 1);
}

}  // namespace
}  // namespace attune

#include "service/queue/live_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/queue/live_schedule_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

TEST_F(LiveScheduleTest, JobsThatAreNotOverGoToTheDriver) {
  JobRecord done = MockJobOf("ann", "b");
  done.state = JobState::kDone;
  done.result = "{}";
  const auto added = Add("key", {MockJobOf("ann", "a"), done});
  ASSERT_EQ(added.size(), 2);
  EXPECT_EQ(schedule_->driver().jobs().size(), 1);
  EXPECT_THAT(schedule_->LiveJobs(), ElementsAre(added.begin()->second.spec.id));
  EXPECT_EQ(schedule_->NumRunning(), 0);
  EXPECT_TRUE(schedule_->broken().ok());
}

TEST_F(LiveScheduleTest, JobsThatComeTwiceAreKnown) {
  const auto first = Add("key", {MockJobOf("ann", "a")}), again = Add("key", {MockJobOf("ann", "a")});
  EXPECT_EQ(again.begin()->first, first.begin()->first);
  EXPECT_EQ(schedule_->driver().jobs().size(), 1);
}

TEST_F(LiveScheduleTest, ResumesWhatIsNotOver) {
  const auto added = Add("key", {MockJobOf("ann", "a"), MockJobOf("ann", "b")});
  ASSERT_TRUE(schedule_->Cancel(added.begin()->first).ok());
  Open();
  EXPECT_THAT(schedule_->LiveJobs(), ElementsAre(added.rbegin()->second.spec.id));
}

TEST_F(LiveScheduleTest, AStoreThatDoesNotAnswerBreaksIt) {
  store_.Fail(absl::UnavailableError("the database is away"));
  EXPECT_TRUE(
      absl::IsUnavailable(schedule_->AddJobs({{.key = "key", .jobs = {MockJobOf("ann", "a")}}}).status()));
  EXPECT_EQ(schedule_->broken(), absl::UnavailableError("the database is away"));
}

TEST_F(LiveScheduleTest, ARefusedSubmissionBreaksNothing) {
  store_.RefuseKey("key");
  EXPECT_TRUE(absl::IsInvalidArgument(
      schedule_->AddJobs({{.key = "key", .jobs = {MockJobOf("ann", "a")}}}).status()));
  EXPECT_TRUE(schedule_->broken().ok());
}

TEST_F(LiveScheduleTest, OnceBrokenItStaysSo) {
  const auto added = Add("key", {MockJobOf("ann", "a"), MockJobOf("ann", "b")});
  store_.Fail(absl::ResourceExhaustedError("the disk is full"));
  EXPECT_FALSE(schedule_->Cancel(added.begin()->first).ok());
  store_.Fail(absl::OkStatus());
  EXPECT_TRUE(schedule_->Cancel(added.rbegin()->first).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(schedule_->broken()));
}

}  // namespace
}  // namespace attune

#include "service/queue/group_commit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "service/queue/live_schedule_for_test.h"

namespace attune {
namespace {

class GroupCommitTest : public LiveScheduleTest {
 protected:
  StoredSubmission Submit(const std::string& key) { return commit_.Submit(key, {MockJobOf("ann", key)}); }

  GroupCommit commit_{queue_};
};

TEST_F(GroupCommitTest, ASubmissionIsStoredAndDescribed) {
  const StoredSubmission jobs = Submit("a");
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_EQ(jobs->size(), 1);
  EXPECT_EQ(jobs->front().id(), "mock-1");
  EXPECT_EQ(jobs->front().state(), "waiting");
  EXPECT_EQ(Submit("a")->front().id(), "mock-1");
  EXPECT_EQ(Submit("b")->front().id(), "mock-2");
}

TEST_F(GroupCommitTest, PartsAreNotDescribed) {
  JobRecord whole = MockJobOf("ann", "a");
  whole.spec.parts = 2;
  JobRecord one = whole, two = whole;
  one.spec.part = 1;
  two.spec.part = 2;
  const StoredSubmission jobs = commit_.Submit("a", {whole, one, two});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_EQ(jobs->size(), 1);
  EXPECT_EQ(schedule_->driver().jobs().size(), 3);
}

TEST_F(GroupCommitTest, OneWithoutJobsLeavesNothing) {
  EXPECT_TRUE(commit_.Submit("a", {})->empty());
  EXPECT_EQ(Submit("a")->size(), 1);
  EXPECT_EQ(commit_.Submit("a", {})->size(), 1);
}

TEST_F(GroupCommitTest, ADeadlineCountsFromNowOn) {
  JobRecord job = MockJobOf("ann", "a");
  job.spec.deadline_seconds = 100;
  ASSERT_TRUE(commit_.Submit("a", {job}).ok());
  const JobRecord& stored = schedule_->driver().jobs().begin()->second.record();
  EXPECT_GE(*stored.spec.deadline_seconds, 100);
}

TEST_F(GroupCommitTest, AGroupIsOneTransaction) {
  const auto stored = StoreGroup({{.key = "a", .jobs = {MockJobOf("ann", "a")}},
                                  {.key = "b", .jobs = {MockJobOf("bob", "b"), MockJobOf("bob", "c")}},
                                  {.key = "a", .jobs = {MockJobOf("ann", "a")}}},
                                 *schedule_);
  ASSERT_EQ(stored.size(), 3);
  EXPECT_EQ(stored[0]->size(), 1);
  EXPECT_EQ(stored[1]->size(), 2);
  EXPECT_EQ(stored[2]->front().id(), stored[0]->front().id());
  EXPECT_EQ(store_.num_added(), 1);
}

TEST_F(GroupCommitTest, OneThatIsRefusedHarmsNoOther) {
  store_.RefuseKey("b");
  const auto stored = StoreGroup({{.key = "a", .jobs = {MockJobOf("ann", "a")}},
                                  {.key = "b", .jobs = {MockJobOf("ann", "b")}},
                                  {.key = "c", .jobs = {MockJobOf("ann", "c")}}},
                                 *schedule_);
  ASSERT_EQ(stored.size(), 3);
  EXPECT_TRUE(stored[0].ok()) << stored[0].status();
  EXPECT_EQ(stored[1].status(), absl::InvalidArgumentError("refused"));
  EXPECT_TRUE(stored[2].ok()) << stored[2].status();
}

TEST_F(GroupCommitTest, AStoreThatDoesNotAnswerIsNotAskedAgain) {
  store_.Fail(absl::UnavailableError("away"));
  const auto stored = StoreGroup(
      {{.key = "a", .jobs = {MockJobOf("ann", "a")}}, {.key = "b", .jobs = {MockJobOf("ann", "b")}}},
      *schedule_);
  ASSERT_EQ(stored.size(), 2);
  for (const StoredSubmission& one : stored) EXPECT_EQ(one.status(), absl::UnavailableError("away"));
  EXPECT_EQ(store_.num_added(), 1);
}

TEST_F(GroupCommitTest, WithoutAScheduleTheReasonIsTold) {
  queue_.Refuse(absl::UnavailableError("the disk is full"));
  EXPECT_EQ(Submit("a").status(), absl::UnavailableError("the disk is full"));
  queue_.Open();
  EXPECT_TRUE(Submit("a").ok());
}

TEST_F(GroupCommitTest, AllThreadsAreAnswered) {
  constexpr int kThreads = 4, kEach = 20;
  LiveSchedule& schedule = *schedule_;
  std::atomic<bool> is_over = false;
  TaskQueue<LiveSchedule, KnownJobs> queue([] {});
  GroupCommit commit(queue);
  std::thread owner([&] {
    while (!is_over) queue.Run(schedule);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int j = 0; j < kEach; ++j) {
        const std::string key = absl::StrCat(i, " ", j);
        const StoredSubmission stored = commit.Submit(key, {MockJobOf("ann", key)});
        EXPECT_TRUE(stored.ok()) << stored.status();
      }
    });
  for (std::thread& thread : threads) thread.join();
  is_over = true;
  owner.join();
  EXPECT_EQ(schedule.driver().jobs().size(), kThreads * kEach);
}

}  // namespace
}  // namespace attune

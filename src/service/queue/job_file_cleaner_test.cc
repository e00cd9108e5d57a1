#include "service/queue/job_file_cleaner.h"

#include <gtest/gtest.h>

#include <string>

#include "base/testing/manual_clock.h"
#include "service/queue/live_schedule_for_test.h"

namespace attune {
namespace {

class JobFileCleanerTest : public LiveScheduleTest {
 protected:
  // A job with one named file and one that was sent; returns its id.
  std::string AddWithFiles(JobState state) {
    JobRecord job = MockJobOf("ann", "base");
    job.state = state;
    job.files = {Keep("base", "out/named", "named")};
    Keep("base", "out/sent", "sent");
    return Add("key", {job}).begin()->second.spec.id;
  }
  bool Has(const std::string& content) { return files_->Has("base", Sha256Hex(content)); }
  absl::Status Admit(int64_t bytes) { return sent_.Admit("ann", "base", Sha256Hex("sent"), bytes); }

  ManualClock clock_;
  SentFiles sent_{[](const std::string&) { return StorageShare{.quota_bytes = 10}; },
                  [](const std::string&) { return int64_t{0}; }, clock_};
  JobFileCleaner cleaner_{*files_, sent_, queue_};
};

TEST_F(JobFileCleanerTest, FilesThatNoRowNamesGo) {
  const JobFile named = Keep("base", "out/named", "named");
  Keep("base", "out/sent", "sent");
  ASSERT_TRUE(files_->Append("base", Sha256Hex("whole"), 0, "who").ok());
  EXPECT_TRUE(Admit(10).ok());
  EXPECT_FALSE(sent_.Admit("ann", "base", Sha256Hex("more"), 1).ok());
  cleaner_.ForgetAllBut({named}, "base");
  EXPECT_TRUE(Has("named"));
  EXPECT_FALSE(Has("sent"));
  EXPECT_EQ(*files_->Sent("base", Sha256Hex("whole")), 0);
  // They count no more.
  EXPECT_TRUE(sent_.Admit("ann", "base", Sha256Hex("more"), 1).ok());
}

TEST_F(JobFileCleanerTest, LateFilesOfAJobThatIsOverGo) {
  const std::string job = AddWithFiles(JobState::kDone);
  cleaner_.ForgetLate(job, "base");
  EXPECT_TRUE(Has("named"));
  EXPECT_FALSE(Has("sent"));
}

TEST_F(JobFileCleanerTest, AJobThatContinuesKeepsThemUntilItsRowChanges) {
  const std::string job = AddWithFiles(JobState::kUnfinished);
  cleaner_.ForgetLate(job, "base");
  EXPECT_TRUE(Has("sent"));
}

TEST_F(JobFileCleanerTest, AllFilesOfAJobThatIsGoneGo) {
  Keep("base", "out/sent", "sent");
  cleaner_.ForgetLate("mock-1@ann", "base");
  EXPECT_FALSE(Has("sent"));
}

TEST_F(JobFileCleanerTest, WithoutAScheduleTheyStay) {
  const std::string job = AddWithFiles(JobState::kDone);
  queue_.Refuse(absl::UnavailableError("the disk is full"));
  cleaner_.ForgetLate(job, "base");
  EXPECT_TRUE(Has("sent"));
}

}  // namespace
}  // namespace attune

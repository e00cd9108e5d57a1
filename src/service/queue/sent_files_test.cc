#include "service/queue/sent_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/testing/manual_clock.h"
#include "fleet/blobs/blob_store.h"
#include "service/wire/job_files.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class SentFilesTest : public ::testing::Test {
 protected:
  absl::Status Admit(const std::string& job, const std::string& digest, int64_t bytes) {
    return sent_.Admit("ann", job, digest, bytes);
  }

  ManualClock clock_;
  StorageShare share_ = {.quota_bytes = 100, .other_bytes = 10};
  int64_t named_ = 20, num_looks_ = 0;
  SentFiles sent_{[this](const std::string& owner) {
                    ++num_looks_;
                    return owner == "ann" ? share_ : StorageShare();
                  },
                  [this](const std::string& owner) { return owner == "ann" ? named_ : 0; }, clock_};
};

TEST_F(SentFilesTest, JobsSendNoMoreThanTheQuotaLeaves) {
  EXPECT_TRUE(Admit("one", "a", 30).ok());
  EXPECT_TRUE(Admit("one", "a", 50).ok());
  EXPECT_TRUE(Admit("two", "b", 20).ok());
  const absl::Status refused = Admit("two", "c", 1);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("tenant ann may store 100 bytes, and would have 101"));
  // A file that was refused does not count.
  EXPECT_FALSE(Admit("two", "d", 1).ok());
  EXPECT_TRUE(sent_.Admit("bob", "three", "a", 1'000'000).ok());
  // Files that no row names are forgotten.
  sent_.Forget("one");
  EXPECT_TRUE(Admit("two", "d", 50).ok());
  EXPECT_FALSE(Admit("two", "e", 1).ok());
  // Files that a row names still count.
  named_ += 70;
  sent_.Forget("two");
  EXPECT_FALSE(Admit("two", "e", 1).ok());
}

TEST_F(SentFilesTest, AFileThatIsSentAgainCountsOnce) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Admit("one", "a", 0).ok());
    EXPECT_TRUE(Admit("one", "a", 70).ok());
  }
}

TEST_F(SentFilesTest, TheQuotaIsLookedAtNowAndThen) {
  for (int64_t bytes = 0; bytes <= 50; ++bytes) EXPECT_TRUE(Admit("one", "a", bytes).ok());
  EXPECT_EQ(num_looks_, 1);
  share_.other_bytes = 40;
  EXPECT_TRUE(Admit("one", "a", 51).ok());
  clock_.Advance(61);
  EXPECT_FALSE(Admit("one", "a", 52).ok());
  share_.other_bytes = 0;
  EXPECT_TRUE(Admit("one", "a", 80).ok());
}

TEST_F(SentFilesTest, AJobSendsALimitedNumberOfFiles) {
  for (int i = 0; i < kMostJobFiles; ++i) ASSERT_TRUE(Admit("one", absl::StrCat(i), 0).ok());
  const absl::Status refused = Admit("one", "another", 0);
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("20000 files"));
  EXPECT_TRUE(Admit("one", "7", 1).ok());
  EXPECT_TRUE(Admit("two", "another", 0).ok());
  sent_.Forget("one");
  EXPECT_TRUE(Admit("one", "another", 0).ok());
}

TEST_F(SentFilesTest, AFileIsNoLargerThanTheStoreTakes) {
  share_.quota_bytes = INT64_MAX;
  EXPECT_TRUE(Admit("one", "a", BlobStoreOptions().most_blob_bytes).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(Admit("one", "a", BlobStoreOptions().most_blob_bytes + 1)));
}

TEST_F(SentFilesTest, WhatWasKnownCountsWhileTheQuotaCannotBeTold) {
  bool is_there = false;
  // A database without room says the same as a quota that is used up.
  SentFiles sent(
      [&](const std::string&) -> absl::StatusOr<StorageShare> {
        if (is_there) return share_;
        return absl::ResourceExhaustedError("the database is full");
      },
      [](const std::string&) { return 0; }, clock_);
  EXPECT_TRUE(absl::IsUnavailable(sent.Admit("ann", "one", "a", 1)));
  is_there = true;
  EXPECT_TRUE(sent.Admit("ann", "one", "a", 1).ok());
  is_there = false;
  clock_.Advance(61);
  EXPECT_TRUE(sent.Admit("ann", "one", "a", 80).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(sent.Admit("ann", "one", "a", 100)));
}

// A job's row changes between two looks at what there is: its files count once, with the row.
TEST_F(SentFilesTest, AFileThatARowTakesMeanwhileCountsOnce) {
  SentFiles* files = nullptr;
  SentFiles sent([&](const std::string&) { return share_; },
                 [&](const std::string&) {
                   files->Forget("one");
                   return named_ + 60;
                 },
                 clock_);
  files = &sent;
  EXPECT_TRUE(sent.Admit("ann", "one", "a", 60).ok());
  EXPECT_TRUE(sent.Admit("ann", "two", "b", 10).ok());
}

}  // namespace
}  // namespace attune

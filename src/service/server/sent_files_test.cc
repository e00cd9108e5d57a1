#include "service/server/sent_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/testing/manual_clock.h"
#include "service/job_files.h"

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
  // Those that a row names count still.
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

TEST_F(SentFilesTest, AQuotaThatCannotBeToldLetsNothingIn) {
  SentFiles sent([](const std::string&) { return absl::UnavailableError("the database is away"); },
                 [](const std::string&) { return 0; }, clock_);
  EXPECT_TRUE(absl::IsUnavailable(sent.Admit("ann", "one", "a", 1)));
}

}  // namespace
}  // namespace attune

#include "base/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class StateFileTest : public ::testing::Test {
 protected:
  StateFileTest() { EXPECT_TRUE(MakeStateFolder(state_).ok()); }

  static void ExpectRefused(const absl::Status& status, const std::string& why) {
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
  }

  const testing::TemporaryFolder folder_;
  const std::string state_ = folder_ / "state", path_ = state_ + "/key", victim_ = folder_ / "victim";
};

TEST_F(StateFileTest, IsReadAgain) {
  EXPECT_EQ(ReadStateFile(path_, 6).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadStateFile(state_ + "/none/key", 6).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(WriteStateFile(path_, "secret").ok());
  EXPECT_EQ(ReadStateFile(path_, 6).value_or(""), "secret");
  // The permissions that a backup sets for a while.
  fs::create_hard_link(path_, state_ + "/same");
  EXPECT_EQ(ReadStateFile(path_, 6).value_or(""), "secret");
  ASSERT_TRUE(WriteStateFile(path_, "newer").ok());
  EXPECT_EQ(ReadFile(state_ + "/same", 6).value_or(""), "secret");
}

TEST_F(StateFileTest, LinksAreNotFollowed) {
  ASSERT_TRUE(WriteFileAtomically(victim_, "theirs").ok());
  ASSERT_EQ(chmod(victim_.c_str(), 0600), 0);
  fs::create_symlink(victim_, path_);
  ExpectRefused(WriteStateFile(path_, "secret"), "is a symbolic link");
  ExpectRefused(ReadStateFile(path_, 6).status(), "is a symbolic link");
  ExpectRefused(CheckStateFile(path_), "is a symbolic link");
  fs::remove(path_);
  fs::create_symlink(folder_ / "nothing", path_);
  ExpectRefused(WriteStateFile(path_, "secret"), "is a symbolic link");
  EXPECT_FALSE(fs::exists(folder_ / "nothing"));
  fs::remove(path_);
  fs::create_hard_link(victim_, path_);
  ExpectRefused(CheckStateFile(path_), "is a hard link");
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused(WriteStateFile(path_, "secret"), "is not a regular file");
  EXPECT_EQ(ReadFile(victim_, 6).value_or(""), "theirs");
}

TEST_F(StateFileTest, AFolderThatOthersCanWriteToIsRefused) {
  ASSERT_TRUE(WriteStateFile(path_, "secret").ok());
  for (const mode_t mode : {0777, 0770, 0702, 01777}) {
    ASSERT_EQ(chmod(state_.c_str(), mode), 0);
    ExpectRefused(MakeStateFolder(state_), "chmod go-w " + state_);
    ExpectRefused(WriteStateFile(path_, "newer"), "chmod go-w " + state_);
    ExpectRefused(ReadStateFile(path_, 6).status(), "chmod go-w " + state_);
    ExpectRefused(CheckStateFile(path_), "chmod go-w " + state_);
  }
  ASSERT_EQ(chmod(state_.c_str(), 0755), 0);
  EXPECT_TRUE(MakeStateFolder(state_).ok());
}

TEST_F(StateFileTest, AFolderThatOthersCanReplaceIsRefused) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  ExpectRefused(MakeStateFolder(state_), "others can write in " + fs::canonical(folder_.path()).string());
  // As in /tmp.
  ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  EXPECT_TRUE(MakeStateFolder(state_).ok());
}

TEST_F(StateFileTest, WhatBelongsToAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr uid_t kOther = 12345;
  ASSERT_TRUE(WriteStateFile(path_, "secret").ok());
  ASSERT_EQ(chown(path_.c_str(), kOther, kOther), 0);
  ExpectRefused(ReadStateFile(path_, 6).status(), "a file of the user 12345");
  ASSERT_EQ(chown(state_.c_str(), kOther, kOther), 0);
  ExpectRefused(MakeStateFolder(state_), "a folder of the user 12345");
}

}  // namespace
}  // namespace attune

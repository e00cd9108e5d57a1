#include "base/private_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class PrivateFileTest : public ::testing::Test {
 protected:
  static mode_t Mode(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_ / "secret";
};

TEST_F(PrivateFileTest, IsReadAgainByItsOwner) {
  ASSERT_TRUE(WritePrivateFile(path_, "secret").ok());
  EXPECT_EQ(Mode(path_), 0600u);
  EXPECT_EQ(ReadPrivateFile(path_, 6).value_or(""), "secret");
  EXPECT_THAT(std::string(ReadPrivateFile(path_, 5).status().message()), HasSubstr("at most 5"));
  EXPECT_EQ(ReadPrivateFile(folder_ / "none", 6).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(PrivateFileTest, IsRefusedIfOthersHaveAccess) {
  ASSERT_TRUE(WritePrivateFile(path_, "secret").ok());
  for (const mode_t mode : {0640, 0620, 0604, 0602}) {
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
    const absl::Status refused = ReadPrivateFile(path_, 6).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied) << mode;
    EXPECT_THAT(std::string(refused.message()), HasSubstr("chmod 600 " + path_));
  }
}

TEST_F(PrivateFileTest, TakesAccessFromOthers) {
  ASSERT_TRUE(WriteFileAtomically(path_, "known to all").ok());
  ASSERT_EQ(chmod(path_.c_str(), 0664), 0);
  ASSERT_TRUE(WritePrivateFile(path_, "secret").ok());
  EXPECT_EQ(Mode(path_), 0600u);
}

TEST_F(PrivateFileTest, ANewFolderIsItsOwners) {
  for (const char* name : {"above/new", "ends/with/slash/"}) {
    ASSERT_TRUE(MakePrivateFolder(folder_ / name).ok());
    EXPECT_EQ(Mode(folder_ / name), 0700u);
    EXPECT_TRUE(MakePrivateFolder(folder_ / name).ok());
  }
  // One that exists keeps its mode.
  ASSERT_EQ(chmod((folder_ / "above").c_str(), 0755), 0);
  ASSERT_TRUE(MakePrivateFolder(folder_ / "above").ok());
  EXPECT_EQ(Mode(folder_ / "above"), 0755u);
  ASSERT_TRUE(WritePrivateFile(path_, "no folder").ok());
  EXPECT_THAT(std::string(MakePrivateFolder(path_ + "/below").message()), HasSubstr(path_));
}

}  // namespace
}  // namespace attune

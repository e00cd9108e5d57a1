#include "device/lease_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using Lock = LeaseFile::Lock;

TEST(LeaseFile, TheFolderIsEverybodysAndNoLink) {
  const testing::TemporaryFolder folder;
  const mode_t mask = umask(077);
  EXPECT_TRUE(LeaseFile::Open(folder / "leases").ok());
  umask(mask);
  struct stat found = {};
  ASSERT_EQ(stat((folder / "leases").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 01777U);
  ASSERT_EQ(stat((folder / "leases/processors").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777, 0666U);

  const auto refused = [&](const std::string& name) {
    const absl::Status status = LeaseFile::Open(folder / name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << name;
    return std::string(status.message());
  };
  std::filesystem::create_directory_symlink(folder / "leases", folder / "link");
  EXPECT_THAT(refused("link"), HasSubstr("link: is a link or no folder; remove it"));
  std::ofstream(folder / "file") << "text";
  EXPECT_THAT(refused("file"), HasSubstr("file: is a link or no folder"));
  EXPECT_THAT(refused("missing/folder"), HasSubstr("No such file"));
  for (const char* name : {"a", "b", "c", "d"}) std::filesystem::create_directory(folder / name);
  std::filesystem::create_symlink(folder / "file", folder / "a/processors");
  std::filesystem::create_hard_link(folder / "file", folder / "b/processors");
  ASSERT_EQ(mkfifo((folder / "c/processors").c_str(), 0666), 0);
  std::filesystem::create_directory(folder / "d/processors");
  for (const char* name : {"a", "b", "c"})
    EXPECT_THAT(refused(name), HasSubstr("/processors: is a link or no file; remove it"));
  EXPECT_THAT(refused("d"), HasSubstr("Is a directory"));
}

TEST(LeaseFile, LocksBytesAndSaysWhatStandsInTheWay) {
  const testing::TemporaryFolder folder;
  LeaseFile first = *LeaseFile::Open(folder / "leases"), second = *LeaseFile::Open(folder / "leases");
  EXPECT_TRUE(*first.TryLock(Lock::kExclusive, {2, 3}));
  EXPECT_TRUE(*first.TryLock(Lock::kShared, {7, 2}));
  EXPECT_FALSE(*second.TryLock(Lock::kShared, {0, 3}));
  EXPECT_TRUE(*second.TryLock(Lock::kShared, {5, 3}));
  const auto count = [](const LeaseFile& file, Lock lock) {
    int64_t bytes = 0;
    const auto obstacles = file.Obstacles(lock, {1, 7});
    for (const LeaseFile::Range& range : *obstacles) bytes += range.count;
    return bytes;
  };
  EXPECT_EQ(count(second, Lock::kShared), 3);
  EXPECT_EQ(count(second, Lock::kExclusive), 4);  // of 7 and 8, the second is out of range
  EXPECT_EQ(count(first, Lock::kShared), 0);
  EXPECT_EQ(count(first, Lock::kExclusive), 3);
  first.Unlock({3, 1});
  EXPECT_EQ(count(second, Lock::kShared), 2);
  {
    const LeaseFile gone = std::move(second);
  }
  EXPECT_EQ(count(first, Lock::kExclusive), 0);
  EXPECT_TRUE(first.IsCurrent());
  std::filesystem::remove(folder / "leases/processors");
  EXPECT_FALSE(first.IsCurrent());
}

}  // namespace
}  // namespace attune

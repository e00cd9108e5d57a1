#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/output_file.h"
#include "base/testing/temporary_folder.h"
#include "process/setup/supervised_service.h"

namespace attune {
namespace {

constexpr int64_t kMost = 1000;

TEST(TurnLog, WritersGoOnWithTheFileThatTheyHaveOpen) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "server.log";
  const auto log = OpenToAppend(path);
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE(WriteAll(*log, "0123456789"));
  TurnLog(path, 10);
  EXPECT_FALSE(std::filesystem::exists(path + ".old"));
  ASSERT_TRUE(WriteAll(*log, "more"));
  TurnLog(path, 10);
  EXPECT_EQ(ReadFile(path, kMost).value_or("none"), "");
  ASSERT_TRUE(WriteAll(*log, "again"));
  EXPECT_EQ(ReadFile(path, kMost).value_or(""), "again");
  EXPECT_EQ(ReadFile(path + ".old", kMost).value_or(""), "0123456789more");
  // The later one takes the place of the earlier one.
  ASSERT_TRUE(WriteAll(*log, " and again"));
  TurnLog(path, 10);
  EXPECT_EQ(ReadFile(path + ".old", kMost).value_or(""), "again and again");
}

TEST(TurnLog, ALogThatIsNotThereIsNone) {
  const testing::TemporaryFolder folder;
  TurnLog(folder / "none.log", 10);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace attune

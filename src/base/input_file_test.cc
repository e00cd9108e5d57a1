// Which files are opened for reading, and which are refused without waiting for them.
#include "base/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class InputFileTest : public ::testing::Test {
 protected:
  InputFileTest() {
    std::filesystem::create_directory(folder_ + "/below");
    EXPECT_TRUE(WriteFileAtomically(folder_ + "/below/file", "0123456789").ok());
  }

  const testing::TemporaryFolder temporary_;
  const std::string& folder_ = temporary_.path();
};

TEST_F(InputFileTest, AFileIsRead) {
  ASSERT_EQ(symlink("below/file", (folder_ + "/link").c_str()), 0);
  for (const char* name : {"/below/file", "/link"}) {
    const auto file = OpenInputFile(folder_ + name);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->bytes, 10);
    std::string bytes(3, '\0');
    EXPECT_TRUE(ReadRange(*file, 4, 3, bytes.data()).ok());
    EXPECT_EQ(bytes, "456");
    EXPECT_FALSE(ReadRange(*file, 8, 3, bytes.data()).ok());
    EXPECT_EQ(*ReadFile(folder_ + name, 10), "0123456789");
  }
}

TEST_F(InputFileTest, NothingElseIs) {
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  const struct {
    std::string path, error;
  } cases[] = {{folder_ + "/pipe", "a pipe"},
               {folder_, "a directory"},
               {"/dev/zero", "a device"},
               {folder_ + "/missing", "No such file"}};
  for (const auto& c : cases) {
    EXPECT_THAT(std::string(OpenInputFile(c.path).status().message()), HasSubstr(c.error));
    EXPECT_THAT(std::string(ReadFile(c.path, 10).status().message()), HasSubstr(c.path + ": "));
  }
}

TEST_F(InputFileTest, WhatAnotherFileNamesStaysBelowItsFolder) {
  const auto open = [this](const std::string& location) {
    return OpenInputFileBelow(folder_, location).status();
  };
  EXPECT_TRUE(open("below/file").ok());
  EXPECT_TRUE(open("./below//file").ok());
  ASSERT_EQ(symlink("below", (folder_ + "/folder").c_str()), 0);
  ASSERT_EQ(symlink("below/file", (folder_ + "/link").c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ + "/pipe").c_str(), 0600), 0);
  const std::pair<std::string, std::string> refused[] = {{"folder/file", "symbolic link"},
                                                         {"link", "symbolic link"},
                                                         {"pipe", "not a regular file"},
                                                         {"below", "not a regular file"},
                                                         {"below/../below/file", "leaves"},
                                                         {folder_ + "/below/file", "absolute"},
                                                         {"", "names no file"},
                                                         {"missing", "No such file"}};
  for (const auto& [location, error] : refused) {
    EXPECT_THAT(std::string(open(location).message()), HasSubstr(error)) << location;
  }
  ASSERT_EQ(link((folder_ + "/below/file").c_str(), (folder_ + "/second").c_str()), 0);
  EXPECT_THAT(std::string(open("below/file").message()), HasSubstr("hard link"));
}

}  // namespace
}  // namespace attune

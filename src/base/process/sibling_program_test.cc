#include "base/process/sibling_program.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

class SiblingProgramTest : public ::testing::Test {
 protected:
  SiblingProgramTest() { setenv("PATH", folder_.path().c_str(), 1); }
  ~SiblingProgramTest() override { setenv("PATH", path_.c_str(), 1); }

  std::string Make(const std::string& name, bool is_executable) {
    const std::string path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n";
    if (is_executable) std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

 private:
  const std::string path_ = std::getenv("PATH");
  const testing::TemporaryFolder folder_;
};

TEST_F(SiblingProgramTest, IsInPathIfItIsNotBesideThisOne) {
  EXPECT_EQ(SiblingProgram("attune-of-test"), "");
  EXPECT_EQ(SiblingProgram("attune-of-test"), SiblingProgram(""));
  const std::string made = Make("attune-of-test", true);
  EXPECT_EQ(SiblingProgram("attune-of-test"), made);
}

TEST_F(SiblingProgramTest, IsExecutable) {
  Make("attune-of-test", false);
  EXPECT_EQ(SiblingProgram("attune-of-test"), "");
}

TEST_F(SiblingProgramTest, BesideThisOneComesFirst) {
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe");
  Make(own.filename(), true);
  EXPECT_EQ(SiblingProgram(own.filename()), own.string());
}

}  // namespace
}  // namespace attune

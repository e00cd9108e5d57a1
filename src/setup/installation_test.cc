#include "setup/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class InstallationTest : public ::testing::Test {
 protected:
  // The settings as they are read again.
  Installation Kept(const Installation& installation) {
    EXPECT_TRUE(SaveInstallation(installation).ok());
    return *LoadInstallation(installation.folder);
  }

  const testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(InstallationTest, IsKeptAsItIs) {
  Installation installation = {.folder = folder_, .http = "127.0.0.1:1", .agents = 3, .trusted = {"a", "b"}};
  EXPECT_EQ(Kept(installation), installation);
  EXPECT_FALSE(Kept(installation).UsesContainers());
  installation.engine = "docker";
  installation.images = "attune-{}:7";
  EXPECT_EQ(Kept(installation), installation);
  EXPECT_TRUE(Kept(installation).UsesContainers());
}

TEST_F(InstallationTest, NamesNoOtherProgramAsItsEngine) {
  ASSERT_TRUE(SaveInstallation({.folder = folder_, .engine = "podman", .images = "attune-{}:7"}).ok());
  const std::string path = folder_ + "/installation.json";
  const std::string text = *ReadFile(path, 1 << 16);
  std::ofstream(path) << absl::StrReplaceAll(text, {{"\"podman\"", "\"/bin/sh\""}});
  EXPECT_THAT(LoadInstallation(folder_).status().message(), HasSubstr("is damaged"));
}

TEST_F(InstallationTest, OfContainersChoosesPortsOfThisMachineAlone) {
  Installation installation = {.folder = folder_,
                               .http = "127.0.0.1:0",
                               .listen = "no.such.host:0",
                               .enrolment = "no.such.host:0",
                               .metrics = "127.0.0.1:0",
                               .engine = "podman"};
  ASSERT_TRUE(ChoosePorts(installation).ok());
  EXPECT_NE(installation.http, "127.0.0.1:0");
  EXPECT_NE(installation.metrics, "127.0.0.1:0");
  EXPECT_EQ(installation.listen, "no.such.host:0");
}

}  // namespace
}  // namespace attune

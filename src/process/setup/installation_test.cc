#include "process/setup/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string JsonOf(const Installation& installation) {
  return ReadFile(installation.folder + "/installation.json", 1 << 16).value_or("");
}

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
  EXPECT_FALSE(installation.Location()->is_postgres());
  EXPECT_THAT(JsonOf(installation), Not(HasSubstr("database")));  // as those of older versions
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

TEST_F(InstallationTest, GivesNoPortToTwo) {
  Installation installation = {.folder = folder_,
                               .http = "127.0.0.1:0",
                               .listen = "127.0.0.1:0",
                               .enrolment = "127.0.0.1:0",
                               .metrics = "127.0.0.1:0"};
  ASSERT_TRUE(ChoosePorts(installation).ok());
  installation.metrics = installation.http;
  EXPECT_TRUE(absl::IsUnavailable(ChoosePorts(installation)));
}

TEST_F(InstallationTest, ThePasswordOfItsDatabaseIsForItsOwnerAlone) {
  const testing::TemporaryFolder folder;
  const Installation installation = {.folder = folder / "up",
                                     .database = "postgresql://ann:secret@db.example.org/attune"};
  ASSERT_TRUE(SaveInstallation(installation).ok());
  EXPECT_EQ(*LoadInstallation(installation.folder), installation);
  EXPECT_THAT(JsonOf(installation), HasSubstr("postgresql://ann@db.example.org/attune"));
  EXPECT_THAT(JsonOf(installation), Not(HasSubstr("secret")));
  EXPECT_TRUE(installation.Location()->is_postgres());
  const std::string path = installation.DatabasePath();
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(LoadInstallation(installation.folder).status()));
  std::filesystem::remove(path);
  const absl::Status missing = LoadInstallation(installation.folder).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(missing));  // and not as if nothing were set up
  EXPECT_THAT(std::string(missing.message()), HasSubstr(path));
  ASSERT_TRUE(RemoveInstallation(installation).ok());
  EXPECT_FALSE(std::filesystem::exists(installation.folder));
}

TEST_F(InstallationTest, AnUrlThatIsNoneIsNotKept) {
  const testing::TemporaryFolder folder;
  const Installation installation = {.folder = folder / "up", .database = "mysql://ann:secret@db/attune"};
  const absl::Status saved = SaveInstallation(installation);
  EXPECT_TRUE(absl::IsInvalidArgument(saved));
  EXPECT_THAT(std::string(saved.message()), Not(HasSubstr("secret")));
  EXPECT_FALSE(std::filesystem::exists(installation.folder + "/installation.json"));
}

}  // namespace
}  // namespace attune

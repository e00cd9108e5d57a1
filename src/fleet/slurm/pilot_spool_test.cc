#include "fleet/slurm/pilot_spool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/private_file.h"
#include "base/testing/temporary_folder.h"
#include "fleet/slurm/pilot_planner.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  stat(path.c_str(), &info);
  return info.st_mode & 07777;
}

TEST(PilotSpoolTest, KeepsItsTagAndPilotsAndHasOneController) {
  const testing::TemporaryFolder folder;
  std::string tag;
  {
    const auto spool = PilotSpool::Open(folder / "spool");
    ASSERT_TRUE(spool.ok()) << spool.status();
    tag = (*spool)->tag();
    EXPECT_THAT(tag, MatchesRegex("[0-9a-f]{8}"));
    EXPECT_THAT(*(*spool)->Pilots(), IsEmpty());
    EXPECT_TRUE((*spool)->Invite(PilotName(tag, "1", false), "word").ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(PilotSpool::Open(folder / "spool").status()));
  }
  const auto spool = PilotSpool::Open(folder / "spool");
  ASSERT_TRUE(spool.ok()) << spool.status();
  EXPECT_EQ((*spool)->tag(), tag);
  EXPECT_THAT(*(*spool)->Pilots(), ElementsAre(PilotName(tag, "1", false)));
  (*spool)->Remove(PilotName(tag, "1", false));
  EXPECT_THAT(*(*spool)->Pilots(), IsEmpty());
  EXPECT_NE((*PilotSpool::Open(folder / "other"))->tag(), tag);
}

TEST(PilotSpoolTest, NobodyElseReadsAnInvitation) {
  const testing::TemporaryFolder folder;
  const auto spool = *PilotSpool::Open(folder / "spool");
  EXPECT_TRUE(spool->Invite("p", "one").ok());
  EXPECT_TRUE(spool->Invite("p", "two").ok());
  EXPECT_EQ(*ReadPrivateFile(spool->InvitationFile("p"), 100), "two");
  EXPECT_EQ(ModeOf(spool->InvitationFile("p")), 0600u);
  EXPECT_EQ(ModeOf(spool->path() + "/p"), 0700u);
}

TEST(PilotSpoolTest, RefusesAFolderThatOthersWriteTo) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "open");
  chmod((folder / "open").c_str(), 0777);
  EXPECT_TRUE(absl::IsPermissionDenied(PilotSpool::Open(folder / "open").status()));
}

TEST(PilotSpoolTest, ShowsTheLastLineOfALog) {
  const testing::TemporaryFolder folder;
  const auto spool = *PilotSpool::Open(folder / "spool");
  EXPECT_EQ(spool->LastLine("p"), "");
  EXPECT_TRUE(spool->Invite("p", "word").ok());
  std::ofstream(spool->Log("p")) << std::string(10000, 'x') << "\nfirst\nat last\x1b[0m\n\n";
  EXPECT_EQ(spool->LastLine("p"), "at last?[0m");
}

}  // namespace
}  // namespace attune

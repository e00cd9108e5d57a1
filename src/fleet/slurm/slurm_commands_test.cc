#include "fleet/slurm/slurm_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::Pair;

TEST(SlurmCommandsTest, AJobIsOneArgumentEach) {
  const SlurmJob job = {.name = "attune-t-1",
                        .script = "/spool/pilot.sh",
                        .arguments = {"/opt/attune", "agent", "--key=a b"},
                        .folder = "/spool",
                        .log = "/spool/50%/log"};
  const auto whole = SbatchCommand({.partition = "cpu"}, job);
  EXPECT_EQ(whole.front(), "sbatch");
  EXPECT_THAT(whole,
              IsSupersetOf({"--parsable", "--no-requeue", "--export=NIL", "--exclusive", "--partition=cpu",
                            "--job-name=attune-t-1", "--chdir=/spool", "--output=/spool/50%%/log"}));
  EXPECT_THAT(whole, Not(Contains(HasSubstr("--gres"))));
  EXPECT_THAT(std::vector<std::string>(whole.end() - 4, whole.end()),
              ElementsAre("/spool/pilot.sh", "/opt/attune", "agent", "--key=a b"));
  const auto part =
      SbatchCommand({.partition = "gpu", .gres = "gpu:a100:1", .time_limit = "1-02:00:00", .cpus = 4}, job);
  EXPECT_THAT(part, IsSupersetOf({"--gres=gpu:a100:1", "--time=1-02:00:00", "--cpus-per-task=4"}));
  EXPECT_THAT(part, Not(Contains("--exclusive")));
}

TEST(SlurmCommandsTest, ChecksResources) {
  EXPECT_TRUE(
      CheckSlurmResources({.partition = "cpu,long_2.x", .gres = "gpu:1", .time_limit = "4:00:00"}).ok());
  for (const char* partition : {"", "-p", "a b", "a\nb", "a;b", "$(id)", "a'b"})
    EXPECT_TRUE(absl::IsInvalidArgument(CheckSlurmResources({.partition = partition}))) << partition;
  EXPECT_FALSE(CheckSlurmResources({.partition = "cpu", .gres = "gpu 1"}).ok());
  EXPECT_FALSE(CheckSlurmResources({.partition = "cpu", .time_limit = "-1"}).ok());
  EXPECT_FALSE(CheckSlurmResources({.partition = "cpu", .cpus = -1}).ok());
}

TEST(SlurmCommandsTest, ReadsTheJobsWithThePrefix) {
  EXPECT_THAT(
      ParseSqueue("RUNNING t-1\nPENDING t-2\nPENDING other\nCOMPLETING t-3\nPENDING t-1\nodd\nRUNNING a b\n",
                  "t-"),
      ElementsAre(Pair("t-1", PilotJobState::kStarted), Pair("t-2", PilotJobState::kPending),
                  Pair("t-3", PilotJobState::kStarted)));
  EXPECT_THAT(ParseSqueue("", "t-"), IsEmpty());
}

// Programs of Slurm that keep their arguments and answer what a test says.
class SlurmProgramsTest : public ::testing::Test {
 protected:
  SlurmProgramsTest() {
    const char* before = std::getenv("PATH");
    path_ = before == nullptr ? "" : before;
    setenv("PATH", absl::StrCat(folder_.path(), ":", path_).c_str(), 1);
  }
  ~SlurmProgramsTest() override { setenv("PATH", path_.c_str(), 1); }

  void Write(const std::string& program, const std::string& script) {
    std::ofstream(folder_ / program) << "#!/bin/sh\n" << script << "\n";
    chmod((folder_ / program).c_str(), 0755);
  }

  testing::TemporaryFolder folder_;
  std::string path_;
  SlurmPrograms slurm_{{.partition = "cpu"}};
};

TEST_F(SlurmProgramsTest, SubmitsIfAnIdComes) {
  Write("sbatch", "echo '17;cluster'");
  EXPECT_TRUE(slurm_.Submit({.name = "t-1", .script = "s"}).ok());
  Write("sbatch", "echo Submitted");
  EXPECT_TRUE(absl::IsUnavailable(slurm_.Submit(SlurmJob())));
  Write("sbatch", "echo 'sbatch: error: Unable to contact slurm controller' >&2; exit 1");
  EXPECT_THAT(slurm_.Submit(SlurmJob()).message(), HasSubstr("Unable to contact slurm controller"));
}

TEST_F(SlurmProgramsTest, ListsAndCancelsByName) {
  Write("squeue", "echo 'PENDING t-1'");
  EXPECT_THAT(*slurm_.Jobs("t-"), ElementsAre(Pair("t-1", PilotJobState::kPending)));
  Write("squeue", "exit 1");
  EXPECT_TRUE(absl::IsUnavailable(slurm_.Jobs("t-").status()));
  Write("scancel", "test \"$1\" = --name=t-1");
  EXPECT_TRUE(slurm_.Cancel("t-1").ok());
  EXPECT_FALSE(slurm_.Cancel("t-2").ok());
}

}  // namespace
}  // namespace attune

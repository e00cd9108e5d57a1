#include "base/process/companion_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/testing/await_that.h"
#include "base/testing/child_processes.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

constexpr double kPatience = 1e6;  // seconds: the programs end by themselves

class CompanionProcessTest : public ::testing::Test {
 protected:
  std::unique_ptr<CompanionProcess> Shell(const std::string& script) {
    auto process = CompanionProcess::Start("/bin/sh", {"sh", "-c", script}, folder_.path(), log_);
    EXPECT_TRUE(process.ok()) << process.status();
    return process.ok() ? *std::move(process) : nullptr;
  }
  std::string Log() const {
    std::ifstream file(log_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // The process whose number the log begins with.
  pid_t Logged() const { return std::stoi(Log()); }

  const testing::TemporaryFolder folder_;
  const std::string log_ = folder_ / "log";
};

TEST_F(CompanionProcessTest, RunsInItsFolderAndAppendsToItsLog) {
  EXPECT_EQ(Shell("echo one; cat; exit 3")->AwaitEnd(kPatience).value_or(-1), W_EXITCODE(3, 0));
  EXPECT_EQ(Shell("pwd >&2")->AwaitEnd(kPatience).value_or(-1), 0);
  EXPECT_EQ(Log(), "one\n" + folder_.path() + "\n");
}

TEST_F(CompanionProcessTest, IsKilledWithItsGroupByTheDestructor) {
  {
    const auto process = Shell("sleep 1000 & echo $!; wait");
    testing::AwaitThat([&] { return Log().ends_with('\n'); });
    EXPECT_FALSE(process->AwaitEnd(0).has_value());
  }
  testing::AwaitThat([&] { return testing::HasEnded(Logged()); });
}

TEST_F(CompanionProcessTest, MayEndByItselfWhenAsked) {
  const auto process = Shell("trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done");
  testing::AwaitThat([&] { return Log() == "ready\n"; });
  process->Stop(kPatience);
  EXPECT_EQ(process->AwaitEnd(0), 0);
  EXPECT_EQ(Log(), "ready\nbye\n");
}

TEST_F(CompanionProcessTest, DoesNotOutliveAParentThatIsKilled) {
  const pid_t parent = fork();
  if (parent == 0) {
    const auto process =
        CompanionProcess::Start("/bin/sh", {"sh", "-c", "echo $$; exec sleep 1000"}, "", log_);
    testing::AwaitThat([&] { return Log().ends_with('\n'); });
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(parent, &status, 0), parent);
  ASSERT_TRUE(WIFSIGNALED(status));
  testing::AwaitThat([&] { return testing::HasEnded(Logged()); });
}

TEST_F(CompanionProcessTest, SaysWhyItCannotBeStarted) {
  EXPECT_EQ(CompanionProcess::Start("/no/such", {"x"}, "", log_).status().message(),
            "/no/such: cannot be started: No such file or directory");
  EXPECT_FALSE(CompanionProcess::Start("/bin/sh", {"x"}, "/no/such", log_).ok());
}

}  // namespace
}  // namespace attune

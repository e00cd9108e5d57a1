#include "kinds/program_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "base/process/program_guard.h"
#include "base/testing/await_that.h"
#include "base/testing/held_file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Code that runs after it has left a daemon behind, which holds the file "alive": the program's child has a
// session of its own, and its parent has ended.
constexpr char kLeavesDaemon[] = R"(
import fcntl, os, sys, time
held = open('alive', 'w')
fcntl.flock(held, fcntl.LOCK_EX)
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    os.closerange(0, 3)
    while True: time.sleep(1)
held.close()
os.wait()
print('began', flush=True)
)";

class ProgramProcessTest : public ::testing::TestWithParam<ProgramContainment> {
 protected:
  void SetUp() override {
    if (GetParam() == ProgramContainment::kBest && !ProgramGuard::HasNamespaces())
      GTEST_SKIP() << "the system gives no PID namespaces; the other way is tested";
  }
  std::unique_ptr<ProgramProcess> Start(const std::string& code) const {
    std::ofstream(folder_ / "program.py") << kLeavesDaemon << code;
    auto started = ProgramProcess::Start({"python3", "program.py"}, folder_.path(), GetParam());
    EXPECT_TRUE(started.ok()) << started.status();
    return *std::move(started);
  }
  static void AwaitLine(ProgramProcess& process) {
    const auto line = process.ReadLine(kNoDeadline);
    EXPECT_TRUE(line.ok()) << line.status();
  }
  // How it ends.
  static std::string AwaitEnd(ProgramProcess& process) {
    return std::string(process.ReadLine(kNoDeadline).status().message());
  }
  bool IsAlive() const { return testing::IsHeld(folder_ / "alive"); }

  const testing::TemporaryFolder folder_;
};

TEST_P(ProgramProcessTest, ADaemonEndsWithTheProgram) {
  const auto process = Start("sys.stdin.readline(); sys.exit(3)");
  AwaitLine(*process);
  EXPECT_TRUE(IsAlive());
  ASSERT_TRUE(process->Send("\n", kNoDeadline).ok());
  EXPECT_THAT(AwaitEnd(*process), HasSubstr("exit status 3"));
  EXPECT_FALSE(IsAlive());
}

TEST_P(ProgramProcessTest, ADaemonEndsWithAProgramThatIsKilled) {
  const auto process = Start("os.kill(os.getpid(), 9)");
  AwaitLine(*process);
  EXPECT_THAT(AwaitEnd(*process), HasSubstr("signal 9"));
  EXPECT_FALSE(IsAlive());
}

TEST_P(ProgramProcessTest, KillEndsTheDaemonToo) {
  const auto process = Start("while True: time.sleep(1)");
  AwaitLine(*process);
  EXPECT_TRUE(IsAlive());
  process->Kill();
  EXPECT_THAT(AwaitEnd(*process), HasSubstr("signal 9"));
  EXPECT_FALSE(IsAlive());
}

TEST_P(ProgramProcessTest, ADaemonEndsWithWhoHasStartedTheProgram) {
  int began[2];
  ASSERT_EQ(pipe(began), 0);
  const pid_t starter = fork();
  if (starter == 0) {
    const auto process = Start("while True: time.sleep(1)");
    AwaitLine(*process);
    if (write(began[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte = 0;
  ASSERT_EQ(read(began[0], &byte, 1), 1);
  EXPECT_TRUE(IsAlive());
  kill(starter, SIGKILL);
  waitpid(starter, nullptr, 0);
  testing::AwaitThat([&] { return !IsAlive(); });
  close(began[0]);
  close(began[1]);
}

TEST_P(ProgramProcessTest, ManyDaemonsAreNoMore) {
  const auto process = Start(R"(
held = open('alive', 'w')
for i in range(50):
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0: os._exit(0)
        while True: time.sleep(1)
print('began', flush=True)
)");
  AwaitLine(*process);
  AwaitLine(*process);
  process->Kill();
  AwaitEnd(*process);
  EXPECT_FALSE(IsAlive());
}

INSTANTIATE_TEST_SUITE_P(Ways, ProgramProcessTest,
                         ::testing::Values(ProgramContainment::kBest, ProgramContainment::kSubreaper),
                         [](const auto& way) {
                           return way.param == ProgramContainment::kBest ? "Namespace" : "Subreaper";
                         });

// Programs that look at themselves find what is so.
TEST(ProgramProcess, ANamespaceHasAProcOfItsOwn) {
  if (!ProgramGuard::HasNamespaces()) GTEST_SKIP() << "the system gives no PID namespaces";
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "program.py")
      << "import os\nprint(os.readlink('/proc/self') == str(os.getpid()), os.getuid(), flush=True)\n"
         "input()";
  const auto process = ProgramProcess::Start({"python3", "program.py"}, folder.path());
  ASSERT_TRUE(process.ok()) << process.status();
  const auto line = (*process)->ReadLine(kNoDeadline);
  ASSERT_TRUE(line.ok()) << line.status();
  EXPECT_EQ(*line, "True " + std::to_string(getuid()));
}

}  // namespace
}  // namespace attune

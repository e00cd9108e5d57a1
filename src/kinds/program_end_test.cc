// Tests that a job's program ends with the job, whatever it does, and runs on the job's processors until
// then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "base/clock.h"
#include "base/testing/await_that.h"
#include "kinds/program_job_for_test.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using ProgramEndTest = ProgramJobTest;

TEST_F(ProgramEndTest, KillsAProgramThatHangsAndItsChildrenWhenItIsCancelled) {
  Write(R"(
held = hold('alive')
child = subprocess.Popen(['sleep', '1000'], close_fds=False)
stage('a')
receive()
say('began')
while True: time.sleep(1)
)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  absl::Status status;
  std::thread runs([&] { status = (*job)->Run({}); });
  AwaitLine("began");
  EXPECT_TRUE(IsAlive());
  EXPECT_TRUE((*job)->Next().has_value());
  EXPECT_GT((*job)->SpentSeconds(), 0);
  const Stopwatch since_cancel;
  (*job)->Cancel();
  runs.join();
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_GT(since_cancel.Seconds(), 4);  // it had time to end by itself
  EXPECT_FALSE(IsAlive());
}

TEST_F(ProgramEndTest, ACancelledProgramMayAnswerOrEnd) {
  for (const char* answer : {"send({'done': {'best': 1}})", "sys.exit(1)"}) {
    Write(std::string("stage('a'); receive(); open('began', 'w').write('x\\n')\n"
                      "if 'cancel' in receive(): ") +
          answer);
    absl::StatusOr<std::unique_ptr<Job>> job;
    absl::Status status;
    // A busy machine may leave the program no time before it is killed.
    do {
      std::filesystem::remove(base_ / "began");
      job = Open();
      ASSERT_TRUE(job.ok()) << job.status();
      std::thread runs([&] { status = (*job)->Run({}); });
      AwaitLine("began");
      (*job)->Cancel();
      runs.join();
    } while (absl::StrContains(status.message(), "killed"));
    if (std::string_view(answer).starts_with("send")) {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ((*job)->Result(), R"({"best":1})");
    } else {
      EXPECT_TRUE(absl::IsCancelled(status)) << status;
    }
  }
}

TEST_F(ProgramEndTest, TheProgramRunsOnTheProcessorsGranted) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  std::vector<int> usable;
  for (int p = 0; p < CPU_SETSIZE; ++p) {
    if (CPU_ISSET(p, &set)) usable.push_back(p);
  }
  Write(R"(
import threading
said = []
def thread():
    while len(said) < 2: time.sleep(0.001)
    said.append(sorted(os.sched_getaffinity(threading.get_native_id())))
other = threading.Thread(target=thread)
other.start()
stage('a')
for i in range(2):
    receive()
    said.append(sorted(os.sched_getaffinity(0)))
    if i == 0: stage('b')
other.join()
send({'done': {'said': said}})
)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE((*job)->Run({}).ok());
  ASSERT_TRUE((*job)->Run({.processors = {usable.back()}}).ok());
  const std::vector<int> last = {usable.back()};
  EXPECT_EQ(nlohmann::json::parse((*job)->Result())["said"], nlohmann::json({usable, last, last}));
}

TEST_F(ProgramEndTest, AProgramThatIgnoresTheEndIsKilled) {
  Write("held = hold('alive')\nstage('a')\nsay('began')\nwhile True: time.sleep(1)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  AwaitLine("began");
  EXPECT_TRUE(IsAlive());
  job->reset();
  EXPECT_FALSE(IsAlive());
}

TEST_F(ProgramEndTest, WhatLeavesTheSessionEndsWithTheJob) {
  Write(R"(
held = hold('alive')
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0: os._exit(0)
    os.closerange(0, 3)  # nobody waits for its output
    say('began')
    while True: time.sleep(1)
held.close()
os.wait()
while not os.path.exists('began'): time.sleep(0.001)
stage('a')
receive()
send({'done': {}})
)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE(IsAlive());
  EXPECT_TRUE((*job)->Run({}).ok());
  EXPECT_FALSE(IsAlive());
}

TEST_F(ProgramEndTest, OutlivesTheThreadThatOpenedIt) {
  Write("stage('a'); receive(); send({'done': {}})");
  absl::StatusOr<std::unique_ptr<Job>> job;
  std::thread([&] { job = Open(); }).join();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE((*job)->Run({}).ok());
}

TEST_F(ProgramEndTest, DoesNotOutliveTheProcessThatOpenedIt) {
  Write("held = hold('alive')\nstage('a')\nsay('began')\nwhile True: time.sleep(1)");
  const pid_t opener = fork();
  if (opener == 0) {
    const absl::StatusOr<std::unique_ptr<Job>> job = Open();
    for (;;) pause();
  }
  AwaitLine("began");
  EXPECT_TRUE(IsAlive());
  kill(opener, SIGKILL);
  waitpid(opener, nullptr, 0);
  testing::AwaitThat([&] { return !IsAlive(); });
}

}  // namespace
}  // namespace attune

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/match.h"
#include "base/clock.h"
#include "base/testing/await_that.h"
#include "base/testing/held_file.h"
#include "base/testing/temporary_folder.h"
#include "kinds/kind_functions.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The beginning of the programs of these tests.
constexpr char kPrelude[] = R"(
import fcntl, json, os, subprocess, sys, time
def hold(file):
    held = open(file, 'w')
    fcntl.flock(held, fcntl.LOCK_EX)
    os.set_inheritable(held.fileno(), True)
    return held
def say(file): open(file, 'w').write('x\n')
def send(message): print(json.dumps(message), flush=True)
def receive(): return json.loads(sys.stdin.readline() or '{}')
def stage(name, **more): send({'stage': {'name': name, **more}})
first = receive()
)";

class ProgramJobTest : public ::testing::Test {
 protected:
  ProgramJobTest() { std::filesystem::create_directory(place_.folder); }

  // Makes it the program of the job.
  void Write(const std::string& code) {
    std::ofstream(base_ / "program.py") << kPrelude << code;
    spec_.settings["command"] = {"python3", "program.py"};
  }
  absl::StatusOr<std::unique_ptr<Job>> Open() const { return OpenProgramJob(spec_, place_); }
  absl::Status OpenError() const { return Open().status(); }

  std::string Read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(base_ / file).rdbuf();
    return text.str();
  }
  // Waits for a program to have written a line there.
  std::string AwaitLine(const std::string& file) const {
    std::string text;
    testing::AwaitThat([&] { return (text = Read(file)).ends_with('\n'); });
    return text;
  }

  // Whether the program, or anything that it has started, still is there.
  bool IsAlive() const { return testing::IsHeld(base_ / "alive"); }

  const testing::TemporaryFolder base_;
  JobSpec spec_ = {.id = "one", .kind = "program", .base = base_.path()};
  JobPlace place_ = {
      .id = "one", .folder = base_ / "folder", .processors = 2, .devices = {"device/a", "device/b"}};
};

std::vector<absl::Status> RunAll(Job& job) {
  std::vector<absl::Status> statuses;
  while (job.Next().has_value() && (statuses.empty() || statuses.back().ok()))
    statuses.push_back(job.Run({}));
  return statuses;
}

TEST_F(ProgramJobTest, RunsStagesUntilItIsDone) {
  Write(R"(
send({'stage': {'name': 'fit', 'needs': [{'key': 'processors', 'amount': 2}], 'memory_bytes': 5, 'seconds': [1, 2, 4]},
      'remaining': 9, 'progress': 'begun'})
order = receive()
send({'progress': 'half'})
send({'stage': {'name': 'score', 'needs': [{'key': 'device', 'exclusive': True}], 'seconds': 3}})
receive()
send({'done': {'first': first, 'order': order}, 'progress': 'all'})
)");
  spec_.settings["settings"] = {{"depth", {1, 2}}};
  spec_.settings["files"] = {"logs/access.log", "/etc/hostname"};
  place_.position = 3;
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  std::optional<JobStage> next = (*job)->Next();
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->name, "fit");
  EXPECT_THAT(next->needs, ElementsAre(ResourceNeed{.key = "processors", .amount = 2}));
  EXPECT_EQ(next->memory_bytes, 5);
  EXPECT_EQ(next->seconds.high, 4);
  EXPECT_EQ((*job)->RemainingSeconds(), 9);
  EXPECT_EQ((*job)->Progress(), "begun");

  ASSERT_TRUE((*job)->Run({.processors = {0}}).ok());
  next = (*job)->Next();
  ASSERT_TRUE(next.has_value());
  EXPECT_THAT(next->needs, ElementsAre(ResourceNeed{.key = "device/a", .exclusive = true}));
  EXPECT_EQ(next->seconds.low, 3);
  EXPECT_EQ((*job)->RemainingSeconds(), 0);
  EXPECT_EQ((*job)->Progress(), "half");

  ASSERT_TRUE((*job)->Run({}).ok());
  EXPECT_FALSE((*job)->Next().has_value());
  EXPECT_EQ((*job)->Progress(), "all");
  EXPECT_GT((*job)->SpentSeconds(), 0);
  const nlohmann::json result = nlohmann::json::parse((*job)->Result());
  EXPECT_EQ(result["order"], nlohmann::json::parse(R"({"run": {"processors": [0]}})"));
  const nlohmann::json first = {{"attune", 1},
                                {"job", "one"},
                                {"position", 3},
                                {"folder", place_.folder},
                                {"processors", 2},
                                {"devices", {"device/a", "device/b"}},
                                {"files", {base_ / "logs/access.log", "/etc/hostname"}},
                                {"settings", {{"depth", {1, 2}}}}};
  EXPECT_EQ(result["first"], first);
  EXPECT_FALSE((*job)->Run({}).ok());
}

TEST_F(ProgramJobTest, GoesOnInAnotherProcess) {
  Write(R"(
path = first['folder'] + '/ended'
while True:
    ended = os.path.exists(path) and os.path.getsize(path) or 0
    if ended == 3: break
    stage(f'stage {ended}')
    if 'run' not in receive(): sys.exit()
    open(path, 'a').write('x')
send({'done': {}})
)");
  for (int ended = 0; ended < 3; ++ended) {
    absl::StatusOr<std::unique_ptr<Job>> job = Open();
    ASSERT_TRUE(job.ok()) << job.status();
    ASSERT_TRUE((*job)->Next().has_value());
    EXPECT_EQ((*job)->Next()->name, "stage " + std::to_string(ended));
    EXPECT_TRUE((*job)->Run({}).ok());
  }
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_FALSE((*job)->Next().has_value());
  EXPECT_EQ((*job)->Result(), "{}");
}

TEST_F(ProgramJobTest, QuotesALineThatIsWrong) {
  // Does not wait for the program, which does not end by itself.
  Write("print('loading\\x1b ...', flush=True); time.sleep(1e6)");
  EXPECT_THAT(OpenError().ToString(),
              AllOf(HasSubstr("INVALID_ARGUMENT: python3 program.py: has sent a line"),
                    HasSubstr("not a JSON object: loading? ...")));
}

TEST_F(ProgramJobTest, RefusesALineThatIsTooLong) {
  Write("print('x' * (2 << 20), flush=True); time.sleep(1e6)");
  EXPECT_THAT(OpenError().ToString(),
              AllOf(HasSubstr("more than 1048576 bytes: xxx"), Not(HasSubstr(std::string(100, 'x')))));
}

TEST_F(ProgramJobTest, RefusesAnAnswerThatNobodyAskedFor) {
  Write("stage('a'); stage('b'); open('sent', 'w').write('x\\n'); receive()");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_NE(AwaitLine("sent"), "");
  EXPECT_THAT((*job)->Run({}).ToString(), HasSubstr("answers before it is asked: {\"stage\""));
}

TEST_F(ProgramJobTest, AProgramThatEndsIsUnavailableAndItsErrorsAreQuoted) {
  Write(R"(
stage('a')
receive()
subprocess.Popen(['sleep', '60'])  # keeps the standard output open
print('x' * 200000 + '\nno space left', file=sys.stderr)
sys.exit(3)
)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  const absl::Status status = (*job)->Run({});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("python3 program.py: ended unexpectedly: exit status 3; it printed: "),
                    ::testing::EndsWith("x | no space left")));
  EXPECT_LT(status.message().size(), 5000);
}

TEST_F(ProgramJobTest, AProgramThatIsKilledBetweenStagesIsUnavailable) {
  Write("stage('a'); os.kill(os.getpid(), 9)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  const absl::Status status = (*job)->Run({});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(status.message(), HasSubstr("signal 9"));
}

TEST_F(ProgramJobTest, AProgramMayFail) {
  Write("send({'failed': 'no such\\nfile'})");
  EXPECT_EQ(OpenError(), absl::FailedPreconditionError("python3 program.py: has failed: no such?file"));
}

TEST_F(ProgramJobTest, CannotStartWhatIsNoProgram) {
  spec_.settings["command"] = {"attune-no-such-program"};
  EXPECT_THAT(OpenError().ToString(),
              HasSubstr("attune-no-such-program: cannot be started: no folder of PATH"));
  spec_.settings["command"] = {"./missing"};
  EXPECT_THAT(OpenError().ToString(), HasSubstr(base_.path()));
  std::ofstream(base_ / "no_format") << "\x01";
  std::filesystem::permissions(base_ / "no_format", std::filesystem::perms::all);
  spec_.settings["command"] = {"./no_format"};
  EXPECT_THAT(OpenError().ToString(), HasSubstr("Exec format error"));
}

TEST_F(ProgramJobTest, ANameAloneIsOfNoProgramHere) {
  spec_.settings["program"] = "sweep\n";
  ASSERT_TRUE(CheckProgramJob(spec_).ok());
  EXPECT_EQ(OpenError(), absl::NotFoundError("the runner lists no program \"sweep?\""));
  spec_.settings["command"] = {"python3"};
  EXPECT_THAT(CheckProgramJob(spec_).ToString(), HasSubstr("program: stands in the place of command"));
  spec_.settings.erase("program");
  spec_.settings["files"] = {"a", ""};
  EXPECT_THAT(CheckProgramJob(spec_).ToString(), HasSubstr("files: has an empty name"));
  EXPECT_THAT(CheckProgramJob({}).ToString(), HasSubstr("command: is missing"));
}

TEST_F(ProgramJobTest, StartsAProgramBesideTheSchedule) {
  std::ofstream(base_ / "program.sh") << "#!/bin/sh\nread line\necho '{\"done\": {\"who\": \"'$1'\"}}'\n";
  std::filesystem::permissions(base_ / "program.sh", std::filesystem::perms::all);
  spec_.settings["command"] = {"./program.sh", "me"};
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->Result(), R"({"who":"me"})");
}

TEST_F(ProgramJobTest, KillsAProgramThatHangsAndItsChildrenWhenItIsCancelled) {
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

TEST_F(ProgramJobTest, ACancelledProgramMayAnswerOrEnd) {
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

TEST_F(ProgramJobTest, TheProgramRunsOnTheProcessorsGranted) {
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

TEST_F(ProgramJobTest, AProgramThatIgnoresTheEndIsKilled) {
  Write("held = hold('alive')\nstage('a')\nsay('began')\nwhile True: time.sleep(1)");
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  AwaitLine("began");
  EXPECT_TRUE(IsAlive());
  job->reset();
  EXPECT_FALSE(IsAlive());
}

TEST_F(ProgramJobTest, WhatLeavesTheSessionEndsWithTheJob) {
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

TEST_F(ProgramJobTest, OutlivesTheThreadThatOpenedIt) {
  Write("stage('a'); receive(); send({'done': {}})");
  absl::StatusOr<std::unique_ptr<Job>> job;
  std::thread([&] { job = Open(); }).join();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_TRUE((*job)->Run({}).ok());
}

TEST_F(ProgramJobTest, DoesNotOutliveTheProcessThatOpenedIt) {
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

TEST_F(ProgramJobTest, ChecksSettings) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "command: is missing"},
      {R"({"command": []})", "command: is missing"},
      {R"({"command": ["a", 1]})", "command: is not a list of texts"},
      {R"({"command": ["a\u0000b"]})", "command: has a zero byte"},
      {R"({"command": "a", "settings": [{}]})", "settings: is not a mapping"},
      {R"({"command": "a", "comand": 1})", "comand: is not a setting"},
  };
  for (const auto& [settings, error] : cases) {
    spec_.settings = nlohmann::json::parse(settings);
    EXPECT_THAT(CheckProgramJob(spec_).ToString(), HasSubstr(error)) << settings;
  }
  spec_.settings = nlohmann::json::parse(R"({"command": ["a"], "settings": {"any": {"thing": [1]}}})");
  EXPECT_TRUE(CheckProgramJob(spec_).ok());
}

TEST_F(ProgramJobTest, TheExampleOfTheDocumentationGoesOnAfterAKill) {
  const auto examples = std::filesystem::absolute(__FILE__).parent_path() / "../../docs/examples";
  spec_.settings = {{"command", {"python3", "job_program.py"}},
                    {"settings", {{"levels", {1, 9}}, {"windows", {15}}, {"repeat", 3}}}};
  spec_.base = examples.lexically_normal().string();
  absl::StatusOr<std::unique_ptr<Job>> job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->Next()->name, "compress");
  ASSERT_TRUE((*job)->Run({}).ok());
  EXPECT_THAT((*job)->Next()->needs, ElementsAre(ResourceNeed{.key = "device/a", .exclusive = true}));
  job->reset();

  job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ((*job)->Next()->name, "time");
  EXPECT_EQ((*job)->Progress(), "1 of 2 candidates");
  EXPECT_EQ(RunAll(**job), std::vector<absl::Status>(3));
  const nlohmann::json result = nlohmann::json::parse((*job)->Result());
  EXPECT_EQ(result["smallest"], "level 9, window 15");
  EXPECT_EQ(result["candidates"].size(), 2);

  place_.folder = base_.path();
  job = Open();
  ASSERT_TRUE(job.ok()) << job.status();
  (*job)->Cancel();
  EXPECT_EQ(RunAll(**job), std::vector<absl::Status>(1));
}

}  // namespace
}  // namespace attune

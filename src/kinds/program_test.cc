#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinds/kind_functions.h"
#include "kinds/program_job_for_test.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

#include "sweep/sweep_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "sweep/sweep_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kYaml[] =
    "commands: [tune, bench]\noptions: {model: nets/a.onnx}\nproduct: {batch: [8, 16, 32]}";

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Writes results as the program does, and notes what it was asked for. `crashes_at`: the number of the
// command that does not come back, as if the whole process were killed; `fails` is a batch whose tuning
// fails.
class ProgramForTest final : public SweepProgram {
 public:
  absl::Status Run(const std::vector<std::string>& arguments, const std::string& /*log*/,
                   const Cancellation& /*cancellation*/) override {
    const std::string& result = arguments.back().substr(arguments.back().find('=') + 1);
    std::string batch = "?";
    for (const std::string& argument : arguments)
      if (absl::StartsWith(argument, "--batch=")) batch = argument.substr(8);
    asked_.push_back(arguments[0] + (batch == "?" ? "" : " " + batch));
    arguments_.push_back(arguments);
    if (--commands_left_ < 0) return absl::CancelledError("killed");
    if (batch == fails_) return absl::AbortedError("no luck");
    if (writes_nothing_) return absl::OkStatus();
    const bool is_tune = arguments[0] == "tune";
    return WriteFileAtomically(result, is_tune
                                           ? R"({"trials": 8, "seconds": 3, "untuned_ms": 4, "tuned_ms": 2,
                                                     "device": "d", "tasks": [{}], "stopped": false})"
                                           : R"({"latency_ms": [1, 2, 3]})");
  }

  std::vector<std::string> TakeAsked() { return std::exchange(asked_, {}); }
  const std::vector<std::vector<std::string>>& arguments() const { return arguments_; }
  void CrashAfter(int commands) { commands_left_ = commands; }
  void FailBatch(std::string batch) { fails_ = std::move(batch); }
  void WriteNothing() { writes_nothing_ = true; }

 private:
  std::vector<std::string> asked_;
  std::vector<std::vector<std::string>> arguments_;
  int commands_left_ = 1000;
  std::string fails_;
  bool writes_nothing_ = false;
};

class SilentObserver final : public SweepObserver {
 public:
  void OnCommand(size_t /*run*/, const std::string& /*command*/) override {}
  void OnRunEnd(size_t /*run*/, const SweepResult& /*result*/) override {}
};

class SweepDriverTest : public ::testing::Test {
 protected:
  // Runs the sweep as a new process would.
  absl::Status Run(const std::string& yaml = kYaml, bool retries_failed = false) {
    const SweepForTest sweep(yaml);
    absl::StatusOr<SweepFolder> folder = SweepFolder::BeginOrResume(path_, sweep.plan);
    if (!folder.ok()) return folder.status();
    SweepDriver driver(*folder, sweep.used, "/base", retries_failed);
    const absl::Status status = driver.Run(program_, observer_, cancellation_);
    num_failed_ = driver.NumFailed();
    return status;
  }
  std::string Csv() const { return Content(path_ + "/results.csv"); }
  std::string FileOfFirstRun(const std::string& name) const {
    const SweepFolder folder = *SweepFolder::Open(path_);
    return folder.FileOf(folder.plan().runs[0], name);
  }

  const testing::TemporaryFolder temporary_;
  const std::string path_ = temporary_ / "s";
  ProgramForTest program_;
  SilentObserver observer_;
  Cancellation cancellation_;
  size_t num_failed_ = 0;
};

TEST_F(SweepDriverTest, RunsAllCommandsOfAllRuns) {
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(program_.TakeAsked(), ElementsAre("tune 8", "bench", "tune 16", "bench", "tune 32", "bench"));
  const SweepFolder folder = *SweepFolder::Open(path_);
  const std::string run = path_ + "/runs/" + folder.plan().runs[0].id + "/";
  EXPECT_THAT(program_.arguments()[0],
              ElementsAre("tune", "/base/nets/a.onnx", "--batch=8", "--records=" + run + "records.db",
                          "--events=" + run + "events.jsonl", "--report=" + run + "tune.html",
                          "--output=" + run + "network.atn", "--json=" + run + "tune.json"));
  EXPECT_THAT(program_.arguments()[1],
              ElementsAre("bench", run + "network.atn", "--json=" + run + "bench.json"));
  EXPECT_THAT(Csv(), AllOf(HasSubstr(",done,"), Not(HasSubstr("unfinished"))));
}

TEST_F(SweepDriverTest, LaterCommandsWorkOnWhatEarlierOnesHaveMade) {
  ASSERT_TRUE(Run("commands: [quantize, tune, compile, bench]\nrecords: shared\noptions: {model: a}").ok());
  const std::string run = FileOfFirstRun("");
  const auto& all = program_.arguments();
  EXPECT_THAT(all[0], ElementsAre("quantize", "/base/a", "--output=" + run + "model.onnx",
                                  "--plan=" + run + "plan.json", "--json=" + run + "quantize.json"));
  EXPECT_EQ(all[1][1], run + "model.onnx");
  EXPECT_THAT(all[1], Not(::testing::Contains("--output=" + run + "network.atn")));
  EXPECT_THAT(all[2], ElementsAre("compile", run + "model.onnx", "--records=" + path_ + "/records.db",
                                  "--output=" + run + "network.atn", "--json=" + run + "compile.json"));
  EXPECT_EQ(all[3][1], run + "network.atn");
}

TEST_F(SweepDriverTest, WithoutTuningARunHasNoRecords) {
  ASSERT_TRUE(Run("commands: [bench]\noptions: {model: /a}").ok());
  EXPECT_THAT(program_.arguments()[0], ElementsAre("bench", "/a", "--records=none", ::testing::_));
}

// Whenever it is killed, what was done stays done, and all else is run once.
TEST_F(SweepDriverTest, GoesOnAfterAKillAtAnyMoment) {
  for (int killed_after = 0; killed_after < 6; ++killed_after) {
    std::filesystem::remove_all(path_);
    program_.CrashAfter(killed_after);
    EXPECT_TRUE(absl::IsCancelled(Run()));
    EXPECT_EQ(program_.TakeAsked().size(), static_cast<size_t>(killed_after) + 1);
    EXPECT_THAT(Csv(), HasSubstr("unfinished"));
    program_.CrashAfter(1000);
    ASSERT_TRUE(Run().ok());
    EXPECT_EQ(program_.TakeAsked().size(), 6u - static_cast<size_t>(killed_after));
    EXPECT_THAT(Csv(), Not(HasSubstr("unfinished")));
    ASSERT_TRUE(Run().ok());
    EXPECT_THAT(program_.TakeAsked(), IsEmpty());
  }
}

TEST_F(SweepDriverTest, TuningThatWasStoppedGoesOn) {
  program_.CrashAfter(0);
  EXPECT_TRUE(absl::IsCancelled(Run()));
  ASSERT_TRUE(WriteFileAtomically(FileOfFirstRun("tune.json"), R"({"stopped": true})").ok());
  program_.CrashAfter(1000);
  program_.TakeAsked();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(program_.TakeAsked().front(), "tune 8");
}

TEST_F(SweepDriverTest, ARunThatFailsStopsNoOther) {
  program_.FailBatch("16");
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(num_failed_, 1u);
  EXPECT_THAT(program_.TakeAsked(), ElementsAre("tune 8", "bench", "tune 16", "tune 32", "bench"));
  EXPECT_THAT(Csv(), HasSubstr("failed,tune: no luck"));
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(program_.TakeAsked(), IsEmpty());

  program_.FailBatch("");
  ASSERT_TRUE(Run(kYaml, /*retries_failed=*/true).ok());
  EXPECT_EQ(num_failed_, 0u);
  EXPECT_THAT(program_.TakeAsked(), ElementsAre("tune 16", "bench"));
  EXPECT_THAT(Csv(), Not(HasSubstr("failed")));
}

TEST_F(SweepDriverTest, ACommandWithoutAResultHasFailed) {
  program_.WriteNothing();
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(num_failed_, 3u);
  EXPECT_THAT(Csv(), HasSubstr("tune: has ended without a result"));
}

TEST_F(SweepDriverTest, ReadsTheTimesOfStagesFromAllPartsOfARun) {
  program_.CrashAfter(0);
  EXPECT_TRUE(absl::IsCancelled(Run()));
  // A run that was killed in the middle of a line, and then resumed.
  ASSERT_TRUE(WriteFileAtomically(FileOfFirstRun("events.jsonl"),
                                  R"({"event":"stage","stage":"time","stage_seconds":1}
{"event":"stage","stage":"ti"stage_seconds"
{"event":"trial","stage_seconds":100}
{"event":"stage","stage":"time","stage_seconds":2}
{"event":"stage","stage":"build","stage_seconds":5}
)")
                  .ok());
  program_.CrashAfter(1000);
  ASSERT_TRUE(Run().ok());
  const SweepFolder folder = *SweepFolder::Open(path_);
  const SweepResult result = ReadSweepResult(folder, folder.plan().runs[0]);
  ASSERT_TRUE(result.tuning);
  EXPECT_THAT(result.tuning->mean_stage_seconds, ElementsAre(std::pair("build", 5), std::pair("time", 1.5)));
  EXPECT_EQ(result.inference->median.median, 2);
}

// It has ended, and so cannot be resumed; but there is no result.
TEST_F(SweepDriverTest, TuningThatWasKilledAtItsEndBeginsAnew) {
  for (const bool has_finished : {false, true}) {
    std::filesystem::remove_all(path_);
    program_.CrashAfter(0);
    EXPECT_TRUE(absl::IsCancelled(Run()));
    const std::string stage = has_finished ? "finish" : "time";
    std::ofstream(FileOfFirstRun("events.jsonl"))
        << "{\"event\":\"stage\",\"stage\":\"" << stage << "\",\"stage_seconds\":1}\n";
    for (const char* name : {"records.db", "records.db-wal"})
      std::ofstream(FileOfFirstRun(name)) << "records";
    program_.CrashAfter(1000);
    ASSERT_TRUE(Run().ok());
    for (const char* name : {"events.jsonl", "records.db", "records.db-wal"})
      EXPECT_EQ(std::filesystem::exists(FileOfFirstRun(name)), !has_finished) << name;
  }
}

TEST_F(SweepDriverTest, AnotherSweepInTheFolderIsRefused) {
  ASSERT_TRUE(Run().ok());
  const absl::Status status =
      Run("commands: [tune, bench]\noptions: {model: nets/a.onnx}\nproduct: {batch: [8, 16, 64]}");
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(path_ + ": was begun with batch of run 3 32, and now it is 64"),
                    HasSubstr("name another folder with --output")));
}

TEST_F(SweepDriverTest, FoldersOfOthersAreLeftAlone) {
  std::filesystem::create_directories(path_);
  std::ofstream(path_ + "/thesis.tex") << "\\begin";
  EXPECT_THAT(Run().message(), HasSubstr("is not a folder of a sweep, and not empty"));
  EXPECT_FALSE(SweepFolder::Open(path_).ok());
}

TEST_F(SweepDriverTest, OneProcessAtATime) {
  const SweepForTest sweep(kYaml);
  const auto first = SweepFolder::BeginOrResume(path_, sweep.plan);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(SweepFolder::BeginOrResume(path_, sweep.plan).status().message(),
              HasSubstr("another process runs this sweep"));
  EXPECT_TRUE(SweepFolder::Open(path_).ok());
}

TEST_F(SweepDriverTest, NamesTheDeviceIfItIsKnown) {
  const auto device = [&](const std::string& yaml) {
    std::filesystem::remove_all(path_);
    EXPECT_TRUE(Run(yaml).ok());
    const SweepFolder folder = *SweepFolder::Open(path_);
    return ReadSweepResult(folder, folder.plan().runs[0]).device;
  };
  EXPECT_EQ(device("commands: [bench]\noptions: {model: a}"), "a-processor");
  EXPECT_EQ(device("commands: [bench]\noptions: {model: a, on: desk}"), "");
  EXPECT_EQ(device("commands: [bench]\noptions: {model: a, on: desk}\nagents: [{key: desk}]"), "a-processor");
  EXPECT_EQ(device("commands: [tune, bench]\noptions: {model: a, tune.on: desk}"), "d");
}

TEST_F(SweepDriverTest, ADamagedResultIsTheErrorOfItsRun) {
  ASSERT_TRUE(Run().ok());
  std::ofstream(FileOfFirstRun("bench.json")) << "{\"latency_ms\": [1, \"two\"]}";
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(num_failed_, 1u);
  EXPECT_THAT(Csv(), HasSubstr("bench.json: has no latencies"));
}

}  // namespace
}  // namespace attune

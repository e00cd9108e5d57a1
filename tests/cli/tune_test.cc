// attune tune: what it prints, what it writes to the database, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "models.h"
#include "nlohmann/json.hpp"
#include "run_attune.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

int64_t Trials(const std::string& events) {
  return std::ranges::count_if(Lines(events), [](const std::string& line) {
    return line.find("\"event\":\"trial\"") != std::string::npos;
  });
}

// The content of a database, as the program shows it.
json List(const std::string& records, const std::string& what) {
  const Outcome list =
      RunAttune({"records", "list", "--" + what, "--limit", "100000", "--records", records, "--json", "-"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  return list.exit_code == 0 ? json::parse(list.out)[what] : json();
}

// The digests of the code of an artifact's kernels, by the kernels' names.
std::map<std::string, std::string> Kernels(const std::string& artifact) {
  const Outcome inspected = RunAttune({"inspect", artifact, "--json", "-"});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  std::map<std::string, std::string> digests;
  if (inspected.exit_code != 0) return digests;
  const json description = json::parse(inspected.out);
  for (const json& kernel : description["kernels"]) digests.emplace(kernel["name"], kernel["digest"]);
  return digests;
}

class TuneTest : public ::testing::Test {
 protected:
  // Runs `attune tune` on the model with the database, quickly, and with these flags added.
  Outcome Tune(const std::vector<std::string>& flags, const RunOptions& options = {}) const {
    std::vector<std::string> arguments = {
        "tune", model_,    "--records", records_,  "--threads", "1", "--candidate-seconds",
        "0.02", "--cache", "warm",      "--batch", "8"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunAttune(arguments, options);
  }

  const TemporaryFolder folder_;
  const std::string model_ = folder_.Write("convolutions.onnx", ConvolutionsModel());
  const std::string records_ = folder_ / "records.db";
  const std::string artifact_ = folder_ / "tuned.atn";
  const std::string events_ = folder_ / "events.jsonl";
};

TEST_F(TuneTest, WritesWhatItFoundAndCompileUsesIt) {
  const std::string report = folder_ / "report.html", summary_file = folder_ / "summary.json";
  const Outcome tuned = Tune(
      {"--trials", "20", "-o", artifact_, "--report", report, "--events", events_, "--json", summary_file});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out,
              AllOf(HasSubstr("convolutions.onnx: 20 trials"), HasSubstr("records are in " + records_)));
  EXPECT_THAT(tuned.err, HasSubstr("20 trials"));
  EXPECT_THAT(Lines(report).at(0), HasSubstr("<!doctype html>"));
  for (const std::string& line : Lines(events_)) {
    const json event = json::parse(line, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(event.is_object()) << line;
    EXPECT_TRUE(event["seconds"].is_number());
    EXPECT_TRUE(event["event"].is_string());
  }
  std::ifstream file(summary_file);
  const json summary = json::parse(file);
  EXPECT_EQ(summary["trials"], 20);
  EXPECT_GE(summary["tasks"].size(), 2);

  const json runs = List(records_, "runs"), measurements = List(records_, "measurements");
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs[0]["run"], summary["run"]);
  EXPECT_EQ(runs[0]["state"], "finished");
  EXPECT_GE(measurements.size(), 20);
  EXPECT_EQ(static_cast<int64_t>(measurements.size()), Trials(events_));

  // The code that was measured is the code that is deployed.
  std::set<std::string> measured;
  for (const json& measurement : measurements) {
    EXPECT_EQ(measurement["run"], summary["run"]);
    measured.insert(measurement["code_digest"]);
  }
  const std::map<std::string, std::string> kernels = Kernels(artifact_);
  ASSERT_FALSE(kernels.empty());
  for (const auto& [name, digest] : kernels) EXPECT_THAT(measured, Contains(digest)) << name;

  // Few trials may find nothing faster; then the network is not measured.
  const bool is_measured = runs[0]["tuned_seconds"].get<double>() > 0;
  EXPECT_THAT(tuned.out,
              HasSubstr(is_measured ? "one inference"
                                    : "nothing faster was found: the tuned network is the untuned one"));
  const std::string compiled = folder_ / "compiled.atn";
  const auto kernels_by_records = [&](const std::vector<std::string>& flags, const RunOptions& options) {
    std::vector<std::string> arguments = {"compile", model_, "-o", compiled, "--threads", "1", "--json", "-"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = RunAttune(arguments, options);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const json compilation = json::parse(outcome.out);
    EXPECT_EQ(compilation["kernels_of_other_code_than_measured"], 0);
    return compilation["kernels_by_records"];
  };
  EXPECT_EQ(kernels_by_records({"--records", records_}, {}), kernels.size());
  EXPECT_EQ(kernels_by_records({}, {.records = records_}), kernels.size());
  EXPECT_EQ(kernels_by_records({"--records", "none"}, {.records = records_}), 0);
  EXPECT_EQ(kernels_by_records({}, {.records = "none"}), 0);
  // Damaged records stop a command only if it names them.
  const std::string damaged = folder_ / "damaged.db";
  std::ofstream(damaged)
      << "no database at all, but a text that is long enough to have a header's size ....\n";
  EXPECT_EQ(kernels_by_records({}, {.records = damaged}), 0);
  EXPECT_THAT(RunAttune({"compile", model_, "-o", compiled}, {.records = damaged}).err,
              HasSubstr("note: compiled without records: " + damaged));
  EXPECT_NE(RunAttune({"compile", model_, "-o", compiled, "--records", damaged}).exit_code, 0);
  const Outcome text = RunAttune({"compile", model_, "-o", compiled, "--records", records_});
  EXPECT_THAT(text.out, HasSubstr("as measured, by records"));

  const Outcome again = Tune({"--trials", "10", "--json", "-"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const json second = json::parse(again.out);
  EXPECT_NE(second["run"], summary["run"]);
  for (const json& task : second["tasks"]) EXPECT_GT(task["transferred"].get<int>(), 0);
  EXPECT_EQ(List(records_, "runs").size(), 2);
}

// The lines of the live view are overwritten, and gone in the end.
TEST_F(TuneTest, ATerminalShowsItsTasksInPlace) {
  const Outcome tuned = Tune({"--trials", "12"}, {.on_terminal = true});
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  const std::string erase = "A\x1b[J";
  EXPECT_THAT(tuned.err, AllOf(HasSubstr("convolutions.onnx: 0 trials"), HasSubstr("GFLOP/s  of peak"),
                               HasSubstr("\x1b[6" + erase), Not(HasSubstr("more tasks"))));
  EXPECT_TRUE(tuned.err.ends_with(erase));
  for (const absl::string_view line : absl::StrSplit(tuned.err, "\r\n")) {
    const size_t escape = line.rfind('\x1b');
    const auto shown = escape == line.npos ? line : line.substr(escape);
    constexpr std::ptrdiff_t kColumns = 80, kEscape = 3;
    const auto is_first = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    EXPECT_LE(std::ranges::count_if(shown, is_first), kColumns + kEscape) << line;
  }
}

TEST_F(TuneTest, AnInterruptEndsItWell) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int64_t before = Trials(events_);
    const Outcome outcome =
        Tune({"-o", artifact_, "--events", events_},
             {.signal_when = [&] { return Trials(events_) >= before + 5; }, .signal = signal});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("records are in"));
    const json runs = List(records_, "runs");
    EXPECT_EQ(runs[0]["state"], "interrupted");
    EXPECT_EQ(static_cast<int64_t>(List(records_, "measurements").size()), Trials(events_));
    EXPECT_THAT(folder_.Files(), Contains("tuned.atn"));
  }
  EXPECT_EQ(List(records_, "runs").size(), 2);
}

TEST_F(TuneTest, GoesOnAfterItWasKilled) {
  const std::vector<std::string> flags = {"--trials", "24", "--events", events_};
  const Outcome killed =
      Tune(flags, {.signal_when = [&] { return Trials(events_) >= 8; }, .signal = SIGKILL});
  EXPECT_EQ(killed.exit_code, -1);
  const size_t kept = List(records_, "measurements").size();
  EXPECT_GE(kept, 8);
  EXPECT_EQ(List(records_, "runs")[0]["state"], "running");
  const Outcome outcome = Tune(flags);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const json runs = List(records_, "runs");
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs[0]["state"], "finished");
  EXPECT_THAT(outcome.err, HasSubstr("resuming run " + runs[0]["run"].get<std::string>()));
  EXPECT_GE(List(records_, "measurements").size(), 24);
}

TEST_F(TuneTest, TheArtifactMayGoToStdout) {
  for (const char* output : {"-", "/dev/stdout"}) {
    const Outcome outcome = Tune({"--trials", "2", "-o", output});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::ofstream(artifact_, std::ios::binary) << outcome.out;
    const Outcome inspected = RunAttune({"inspect", artifact_});
    EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  }
}

TEST_F(TuneTest, FewOpenFilesAreEnough) {
  const Outcome outcome = Tune({"--trials", "2", "--builders", "1"}, {.max_open_files = 50});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

// Usage that takes no time.
class TuneUsageTest : public TuneTest {};

TEST_F(TuneUsageTest, ShowsWhatThereIsToChooseFrom) {
  const Outcome outcome = Tune({"--space"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("conv"), HasSubstr("configs")));
  EXPECT_THAT(folder_.Files(), ElementsAre("convolutions.onnx"));
}

TEST_F(TuneUsageTest, WrongUsageExitsWithTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--frobnicate"},
      {"--trials", "0"},
      {"--trials", "-3"},
      {"--trials", "many"},
      {"--trials-per-task", "0"},
      {"--time", "soon"},
      {"--time", "0"},
      {"--time", "-5m"},
      {"--time", "nan"},
      {"--strategy", "luck"},
      {"--batch", "0"},
      {"--builders", "-1"},
      {"--random-share", "1.5"},
      {"--patience", "-1"},
      {"--cache", "lukewarm"},
      {"--seed", "x"},
      {"--seed", "-1"},
      {"--threads", "0"},
      {"--candidate-seconds", "0"},
  };
  for (const std::vector<std::string>& flags : wrong) {
    std::vector<std::string> arguments = {"tune", model_, "--records", records_};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = RunAttune(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << ::testing::PrintToString(flags) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("attune: "), HasSubstr(flags[0])));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(RunAttune({"tune"}).exit_code, 2);
  EXPECT_THAT(folder_.Files(), ElementsAre("convolutions.onnx"));
}

TEST_F(TuneUsageTest, WhatCannotWorkIsSaidAtOnce) {
  ASSERT_EQ(RunAttune({"compile", model_, "-o", artifact_}).exit_code, 0);
  const std::string absent = folder_ / "absent/file";
  const struct {
    std::vector<std::string> arguments;
    std::string part;
  } wrong[] = {
      {{"tune", artifact_, "--records", records_}, "compiled already"},
      {{"tune", model_}, "ATTUNE_RECORDS is none"},
      {{"tune", model_, "--records", "none"}, "there are no records"},
      {{"tune", model_, "--records", model_}, model_},
      {{"tune", model_, "--records", records_, "--cpu", "x86-64-v3"}, "--cpu"},
      {{"tune", model_, "--records", records_, "--device", "two\nlines"}, "device"},
      {{"tune", model_, "--records", records_, "--events", absent}, absent},
      {{"tune", model_, "--records", records_, "-o", absent}, absent},
      {{"tune", model_, "--records", records_, "--report", absent}, absent},
      {{"tune", model_, "--records", records_, "--json", absent}, absent},
      {{"tune", model_, "--records", records_, "-o", folder_.path()}, "directory"},
  };
  for (const auto& [arguments, part] : wrong) {
    const Outcome outcome = RunAttune(arguments);
    EXPECT_EQ(outcome.exit_code, 1) << ::testing::PrintToString(arguments);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("attune: "), HasSubstr(part)));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(TuneUsageTest, TooFewOpenFilesAreOneSentence) {
  for (int files = 8; files <= 16; ++files) {  // fewer do not load a program's libraries
    std::filesystem::remove(records_);
    const Outcome outcome = Tune({"--builders", "1"}, {.max_open_files = files});
    EXPECT_EQ(outcome.exit_code, 1) << files;
    EXPECT_THAT(outcome.err, StartsWith("attune: "));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << files << outcome.err;
  }
}

}  // namespace
}  // namespace attune

#include "sweep/command_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sweep/sweep_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& more, const std::string& commands = "[tune, bench]") {
  const SweepFile file =
      *ParseSweepFile("commands: " + commands + "\noptions: {model: a.onnx}\n" + more, "s.yaml", "/base");
  const ExpandedSweep expanded = *ExpandSweep(file);
  const auto used = ResolveOptions(file, expanded, DefinitionsForTest());
  if (!used.ok()) return std::string(used.status().message());
  return std::string(CheckAgentKeys(file, expanded, *used).message());
}

std::vector<std::string> NamesOf(const std::vector<UsedOption>& options) {
  std::vector<std::string> names;
  for (const UsedOption& used : options) names.push_back(used.option.name);
  return names;
}

TEST(CommandOptionsTest, AnOptionIsForOneCommandOrForAllThatHaveIt) {
  const SweepForTest sweep(
      "commands: [tune, bench]\noptions: {model: a, threads: 1, tune.seed: 2}\nproduct: {batch: [8]}");
  EXPECT_THAT(NamesOf(sweep.used[0]), ElementsAre("batch", "threads", "seed"));
  EXPECT_THAT(NamesOf(sweep.used[1]), ElementsAre("threads"));
}

TEST(CommandOptionsTest, AnArtifactTakesNoOptionsOfCompilation) {
  const std::string options = "\noptions: {model: a, precision: bf16}";
  EXPECT_THAT(SweepForTest("commands: [tune, bench]" + options).used[1], IsEmpty());
  EXPECT_THAT(NamesOf(SweepForTest("commands: [bench]" + options).used[0]), ElementsAre("precision"));
  EXPECT_THAT(ErrorOf("product: {bench.precision: [bf16]}"),
              StartsWith("s.yaml: product: bench.precision: has no effect on an artifact"));
}

TEST(CommandOptionsTest, ErrorsNameTheFileTheKeyAndTheOption) {
  EXPECT_EQ(ErrorOf(""), "");
  EXPECT_THAT(
      ErrorOf("product: {tune.speed: [1]}"),
      StartsWith(
          "s.yaml: product: tune.speed: there is no --speed of tune; there are batch, no-layouts, on,"));
  EXPECT_THAT(ErrorOf("product: {speed: [1]}"), HasSubstr("there is no --speed of tune, bench"));
  EXPECT_THAT(ErrorOf("zip: {compile.threads: [1]}"),
              StartsWith("s.yaml: zip: compile.threads: \"compile\" is none of the commands of this sweep"));
  EXPECT_THAT(ErrorOf("product: {threads: [1], tune.threads: [2]}"),
              StartsWith("s.yaml: product: tune.threads: sets --threads of tune, which another option"));
  EXPECT_THAT(ErrorOf("product: {json: [a]}"), StartsWith("s.yaml: product: json: is not for sweeps"));
  EXPECT_THAT(ErrorOf("product: {tune.records: [a]}"),
              HasSubstr("is for the whole sweep; give records: own"));
  EXPECT_THAT(ErrorOf("product: {threads: [1, wrong]}"),
              StartsWith("s.yaml: product: threads: wrong: --threads: is wrong"));
  EXPECT_THAT(ErrorOf("product: {threads: [true]}"), HasSubstr("threads: is not a flag, and needs a value"));
  EXPECT_THAT(ErrorOf("product: {threads: [[1, 2]]}"), HasSubstr("threads: takes one value"));
  EXPECT_THAT(ErrorOf("product: {no-layouts: [1]}"), HasSubstr("no-layouts: is a flag"));
}

TEST(CommandOptionsTest, RunsMeasureOnTheAgentsOfTheSweep) {
  const std::string agents = "agents: [{key: desk}]\n";
  EXPECT_EQ(ErrorOf(agents + "product: {on: [desk]}"), "");
  EXPECT_THAT(ErrorOf(agents), StartsWith("s.yaml: agents: no run measures there"));
  EXPECT_THAT(ErrorOf(agents + "product: {on: [desk, lap]}"),
              StartsWith("s.yaml: agents: none has the key \"lap\""));
  EXPECT_EQ(ErrorOf("product: {on: [anywhere]}"), "");
}

TEST(CommandOptionsTest, ArgumentsFollowFromKindAndValue) {
  using Kind = CommandOption::Kind;
  EXPECT_THAT(ArgumentsOf({"a", Kind::kValue}, -1.5), ElementsAre("--a=-1.5"));
  EXPECT_THAT(ArgumentsOf({"a", Kind::kValue}, "x y=z"), ElementsAre("--a=x y=z"));
  EXPECT_THAT(ArgumentsOf({"a", Kind::kValue}, nullptr), IsEmpty());
  EXPECT_THAT(ArgumentsOf({"a", Kind::kValues}, {"x", "y"}), ElementsAre("--a=x", "--a=y"));
  EXPECT_THAT(ArgumentsOf({"a", Kind::kValues}, "x"), ElementsAre("--a=x"));
  EXPECT_THAT(ArgumentsOf({"a", Kind::kFlag}, true), ElementsAre("--a"));
  EXPECT_THAT(ArgumentsOf({"a", Kind::kFlag}, false), IsEmpty());
}

}  // namespace
}  // namespace attune

#include "sweep/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  const auto file = ParseSweepFile(text, "s.yaml", "/base");
  return file.ok() ? "" : std::string(file.status().message());
}

// The error of a file that is right but for these lines.
std::string ErrorWith(const std::string& more) {
  return ErrorOf("commands: [tune, bench]\noptions: {model: a.onnx}\n" + more);
}

TEST(SweepFileTest, HasAxesInTheOrderOfTheFile) {
  const auto file = ParseSweepFile(R"(
commands: [quantize, bench]
output: results/a
records: shared
repeat: 3
timeout: 2h
options: {model: a.onnx, threads: 1}
product:
  z: [1, 2]
  a: ["007", true, ~, [x, y]]
zip: {p: [1, 2], o: [3, 4]}
exclude: {z: 1, a: ["007", true]}
agents: [{key: desk, processors: [0, 2]}]
)",
                                   "s.yaml", "/base");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->commands, ElementsAre("quantize", "bench"));
  EXPECT_EQ(file->output, "/base/results/a");
  EXPECT_EQ(file->records, kSharedRecords);
  EXPECT_EQ(file->repeat, 3);
  EXPECT_EQ(file->most_seconds, 7200);
  ASSERT_EQ(file->axes.size(), 3u);
  EXPECT_THAT(file->axes[0].options, ElementsAre("z"));
  EXPECT_THAT(file->axes[1].options, ElementsAre("a"));
  EXPECT_EQ(file->axes[1].points[0][0], "007");
  EXPECT_TRUE(file->axes[1].points[2][0].is_null());
  EXPECT_THAT(file->axes[2].options, ElementsAre("p", "o"));
  EXPECT_THAT(file->axes[2].points[1], ElementsAre(2, 4));
  ASSERT_EQ(file->exclusions.size(), 1u);
  EXPECT_EQ(file->agents[0], (SweepAgent{"desk", {0, 2}}));
}

TEST(SweepFileTest, RecordsMayBeADatabase) {
  EXPECT_EQ(
      ParseSweepFile("commands: [tune]\noptions: {model: a}\nrecords: my.db", "s.yaml", "/base")->records,
      "/base/my.db");
}

TEST(SweepFileTest, ErrorsNameTheFileAndThePlace) {
  EXPECT_EQ(ErrorWith(""), "");
  EXPECT_THAT(ErrorOf("commands: [tune"), StartsWith("s.yaml: line 1: is not YAML"));
  EXPECT_THAT(ErrorOf("[a]"), StartsWith("s.yaml: is not a file of a sweep"));
  EXPECT_THAT(ErrorOf("options: {model: a}"), StartsWith("s.yaml: commands: is missing"));
  EXPECT_THAT(ErrorOf("commands: [bench, tune]\noptions: {model: a}"), HasSubstr("commands: \"tune\""));
  EXPECT_THAT(ErrorOf("commands: [tune]"), StartsWith("s.yaml: model: is missing"));
  EXPECT_THAT(ErrorWith("products: {}"), StartsWith("s.yaml: products: is not a setting; there are"));
  EXPECT_THAT(ErrorWith("repeat: 0"), StartsWith("s.yaml: repeat: is not a whole number from 1"));
  EXPECT_THAT(ErrorWith("timeout: soon"), StartsWith("s.yaml: timeout: is not a time"));
  EXPECT_THAT(ErrorWith("product: [1]"), StartsWith("s.yaml: product: is not a mapping"));
  EXPECT_THAT(ErrorWith("product: {b: 1}"), StartsWith("s.yaml: product: b: is not a list of values"));
  EXPECT_THAT(ErrorWith("product: {b: []}"), StartsWith("s.yaml: product: b: is not a list of values"));
  EXPECT_THAT(ErrorWith("product: {b: [{}]}"), StartsWith("s.yaml: product: b: is not a number, text"));
  EXPECT_THAT(ErrorWith("product: {b: [\"\"]}"), StartsWith("s.yaml: product: b: is empty"));
  EXPECT_THAT(ErrorWith("product: {model: [b]}"), StartsWith("s.yaml: product: model: is given elsewhere"));
  EXPECT_THAT(ErrorWith("product: {b: [1, 2, 1]}"), StartsWith("s.yaml: product: b: 1 is there twice"));
  EXPECT_THAT(ErrorWith("zip: {b: [1, 1], c: [2, 2]}"), StartsWith("s.yaml: zip: b, c: 1, 2 is there twice"));
  EXPECT_THAT(ErrorWith("zip: [{b: [1, 2], c: [1]}]"),
              StartsWith("s.yaml: zip: c: has 1 values, but b has 2"));
  EXPECT_THAT(ErrorWith("zip: 1"), StartsWith("s.yaml: zip: is not a list of mappings"));
  EXPECT_THAT(ErrorWith("product: {b: [1]}\nexclude: {c: 1}"), StartsWith("s.yaml: exclude: c: is not in"));
  EXPECT_THAT(ErrorWith("product: {b: [1]}\nexclude: {b: 2}"),
              StartsWith("s.yaml: exclude: b: 2 is none of"));
  EXPECT_THAT(ErrorWith("exclude: [{}]"), StartsWith("s.yaml: exclude: an empty mapping"));
  EXPECT_THAT(ErrorWith("agents: [{}]"), StartsWith("s.yaml: agents: key: is missing"));
  EXPECT_THAT(ErrorWith("agents: [{key: a, processors: [-1]}]"),
              StartsWith("s.yaml: agents: processors: is not a list"));
}

}  // namespace
}  // namespace attune

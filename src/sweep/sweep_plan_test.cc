#include "sweep/sweep_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_replace.h"
#include "sweep/sweep_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr char kYaml[] = R"(
commands: [tune, bench]
repeat: 2
options: {model: a, threads: 1}
product: {batch: [8, 16]}
zip: {seed: [1, ~], no-layouts: [true, false]}
)";

std::string DifferenceOf(const std::string& now) {
  return std::string(CheckIsSamePlan(SweepForTest(kYaml).plan, SweepForTest(now).plan).message());
}
// The plan of the same sweep with other words.
std::string DifferenceWith(std::string_view word, std::string_view other) {
  return DifferenceOf(absl::StrReplaceAll(kYaml, {{word, other}}));
}

TEST(SweepPlanTest, AllCombinationsAreRunBeforeAnyIsRepeated) {
  const SweepPlan plan = SweepForTest(kYaml).plan;
  ASSERT_EQ(plan.runs.size(), 8u);
  EXPECT_EQ(plan.DescribeRun(plan.runs[3]), "batch=16 seed=~ no-layouts=false repeat=1");
  EXPECT_EQ(plan.DescribeRun(plan.runs[4]), "batch=8 seed=1 no-layouts=true repeat=2");
}

TEST(SweepPlanTest, IdsAreUnique) {
  std::set<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    for (const SweepRun& run : SweepForTest(kYaml).plan.runs) {
      EXPECT_THAT(run.id, MatchesRegex("[0-9a-f]{32}"));
      ids.insert(run.id);
    }
  }
  EXPECT_EQ(ids.size(), 16u);
}

TEST(SweepPlanTest, ReadsWhatItWrites) {
  const SweepPlan plan = SweepForTest(kYaml).plan;
  const auto read = ParseSweepPlan(ToJson(plan).dump());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToJson(*read), ToJson(plan));
}

TEST(SweepPlanTest, RefusesOtherTexts) {
  for (const char* text : {"", "[]", "{}", "{\"sweep\": 1}"}) EXPECT_FALSE(ParseSweepPlan(text).ok()) << text;
  nlohmann::json json = ToJson(SweepForTest(kYaml).plan);
  const auto refuses = [&](const char* pointer, const nlohmann::json& value) {
    nlohmann::json changed = json;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    return !ParseSweepPlan(changed.dump()).ok();
  };
  EXPECT_FALSE(refuses("/records", "own"));
  EXPECT_TRUE(refuses("/runs", nlohmann::json::array()));
  EXPECT_TRUE(refuses("/runs/0/run", "../../../../../../../../etc/passwd"));
  EXPECT_TRUE(refuses("/runs/0/values", {1}));
  EXPECT_TRUE(refuses("/runs/0/values/0", nlohmann::json::object()));
  EXPECT_TRUE(refuses("/commands", {"../bench"}));
  EXPECT_TRUE(refuses("/axes/0/options", {"threads"}));
  EXPECT_TRUE(refuses("/options/3", "x"));
}

TEST(SweepPlanTest, TellsWhatHasChanged) {
  EXPECT_EQ(DifferenceOf(kYaml), "");
  EXPECT_EQ(DifferenceOf("# with another comment" + std::string(kYaml)), "");
  EXPECT_EQ(DifferenceWith("threads: 1", "threads: 2"), "was begun with threads of run 1 1, and now it is 2");
  EXPECT_THAT(DifferenceWith("repeat: 2", "repeat: 3"),
              HasSubstr("with a number of runs of 8, and now it is 12"));
  EXPECT_THAT(DifferenceWith("[8, 16]", "[8, 32]"), HasSubstr("with batch of run 3 16, and now it is 32"));
  EXPECT_THAT(DifferenceWith("[tune, bench]", "[tune]"), HasSubstr("with commands [\"tune\",\"bench\"]"));
  SweepPlan other = SweepForTest(kYaml).plan;
  other.version = "2.0";
  EXPECT_EQ(CheckIsSamePlan(SweepForTest(kYaml).plan, other).message(),
            "was begun by attune 1.0, and now it is 2.0");
}

}  // namespace
}  // namespace attune

#include "sweep/expansion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sweep/sweep_value.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ExpandedSweep> Expand(const std::string& yaml) {
  return ExpandSweep(*ParseSweepFile("commands: [tune]\noptions: {model: m}\n" + yaml, "s.yaml", "/base"));
}

// Each row as a text of its values.
std::vector<std::string> Rows(const std::string& yaml) {
  std::vector<std::string> texts;
  const auto expanded = Expand(yaml);
  for (const auto& row : expanded->rows)
    texts.push_back(absl::StrJoin(
        row, " ", [](std::string* to, const SweepValue& value) { to->append(SweepValueText(value)); }));
  return texts;
}

// "[0, 1, …]"
std::string Numbers(int count) {
  std::string list;
  for (int i = 0; i < count; ++i) absl::StrAppend(&list, i == 0 ? "[" : ", ", i);
  return list + "]";
}

TEST(ExpansionTest, WithoutAxesThereIsOneRun) { EXPECT_THAT(Rows(""), ElementsAre("m")); }

TEST(ExpansionTest, TheLastAxisOfAProductChangesFirst) {
  EXPECT_THAT(Rows("product: {b: [1, 2], a: [x, y]}"), ElementsAre("1 x m", "1 y m", "2 x m", "2 y m"));
}

TEST(ExpansionTest, OptionsOfAZipChangeTogether) {
  EXPECT_THAT(Rows("product: {a: [1, 2]}\nzip: {b: [3, 4], c: [5, 6]}"),
              ElementsAre("1 3 5 m", "1 4 6 m", "2 3 5 m", "2 4 6 m"));
  EXPECT_THAT(Rows("zip: [{a: [1, 2], b: [3, 4]}, {c: [5, 6]}]"),
              ElementsAre("1 3 5 m", "1 3 6 m", "2 4 5 m", "2 4 6 m"));
  EXPECT_THAT(Expand("product: {a: [1]}\nzip: {c: [1], b: [2]}")->options,
              ElementsAre("a", "c", "b", "model"));
}

TEST(ExpansionTest, ExclusionsLeaveRunsOut) {
  EXPECT_THAT(Rows("product: {a: [1, 2], b: [1, 2]}\nexclude: {a: 1, b: 2}"),
              ElementsAre("1 1 m", "2 1 m", "2 2 m"));
  EXPECT_THAT(Rows("product: {a: [1, 2, 3], b: [1, 2]}\nexclude: [{a: [1, 3]}, {b: 2}]"),
              ElementsAre("2 1 m"));
  EXPECT_EQ(Expand("product: {a: [1, 2, 3]}\nexclude: {a: [1, 3]}")->num_excluded, 2);
  EXPECT_THAT(Expand("product: {a: [1, 2]}\nexclude: {a: [1, 2]}").status().message(),
              HasSubstr("s.yaml: exclude: leaves no run"));
}

TEST(ExpansionTest, IsBounded) {
  const std::string hundred = Numbers(100);
  EXPECT_EQ(Expand(absl::StrCat("product: {a: ", hundred, ", b: ", hundred, "}"))->rows.size(), 10'000u);
  EXPECT_THAT(
      Expand(absl::StrCat("repeat: 2\nproduct: {a: ", hundred, ", b: ", hundred, "}")).status().message(),
      HasSubstr("s.yaml: has more than 10000 runs"));
  const std::string thousand = Numbers(1000);
  EXPECT_THAT(Expand(absl::StrCat("product: {a: ", thousand, ", b: ", thousand, ", c: ", thousand, "}"))
                  .status()
                  .message(),
              HasSubstr("s.yaml: has more than 1000000 combinations"));
}

}  // namespace
}  // namespace attune

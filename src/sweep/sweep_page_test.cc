#include "sweep/sweep_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sweep/sweep_for_test.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The page of a sweep of bench whose runs all have times.
std::string PageOf(const std::string& yaml) {
  const SweepPlan plan = SweepForTest("commands: [tune, bench]\n" + yaml).plan;
  std::vector<SweepResult> results(plan.runs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto time = static_cast<double>(i + 1);
    results[i].inference = SummarizeLatencies({time, 2 * time, 3 * time});
  }
  return SweepHtml(plan, results);
}

int64_t Count(const std::string& text, const std::string& part) {
  return std::ssize(std::vector<std::string>(absl::StrSplit(text, part))) - 1;
}

TEST(SweepPageTest, HasAPlotForEachAxisWithALineForEachValueOfTheOthers) {
  const std::string page =
      PageOf("options: {model: m}\nproduct: {batch: [8, 16, 32]}\nzip: {seed: [1, 2], threads: [3, 4]}");
  EXPECT_EQ(Count(page, "<svg"), 2);
  EXPECT_EQ(Count(page, "stroke-width='1.8'"), 2 + 3);
  EXPECT_EQ(Count(page, "<circle"), 2 * 6);
  EXPECT_THAT(page, AllOf(HasSubstr("Inference by batch"), HasSubstr("seed, threads"),
                          HasSubstr("seed=1 threads=3"), Not(HasSubstr("http"))));
}

TEST(SweepPageTest, TextsAreEscapedAndNamesArePlaced) {
  const std::string page = PageOf("options: {batch: 1}\nproduct: {model: [\"<b>\", \"a&b\"]}");
  EXPECT_THAT(page, AllOf(HasSubstr("&lt;b&gt;"), HasSubstr("a&amp;b"), Not(HasSubstr("<b>a"))));
}

TEST(SweepPageTest, RepeatedRunsAreOnePoint) {
  EXPECT_EQ(Count(PageOf("repeat: 3\noptions: {model: m}\nproduct: {batch: [8, 16]}"), "<circle"), 2);
}

TEST(SweepPageTest, StaysSmall) {
  std::string many = "[0";
  for (int i = 1; i < 100; ++i) absl::StrAppend(&many, ", ", i);
  const std::string page =
      PageOf("options: {model: m}\nproduct: {batch: " + many + "], seed: " + many + "]}");
  EXPECT_THAT(page, HasSubstr("76 more lines are not drawn"));
  EXPECT_LT(page.size(), size_t{4} << 20);
}

// Numbers between which a double has none.
TEST(SweepPageTest, LargeNumbersHaveTicks) {
  EXPECT_THAT(PageOf("options: {model: m}\nproduct: {seed: [9007199254740992, 9007199254740993]}"),
              HasSubstr("<svg"));
}

TEST(SweepPageTest, WithoutTimesThereAreNotes) {
  const SweepPlan plan = SweepForTest("commands: [tune]\noptions: {model: m}\nproduct: {batch: [1, 2]}").plan;
  const std::string page = SweepHtml(plan, std::vector<SweepResult>(2));
  EXPECT_THAT(page, AllOf(HasSubstr("nothing was measured"), HasSubstr("2 unfinished")));
}

}  // namespace
}  // namespace attune

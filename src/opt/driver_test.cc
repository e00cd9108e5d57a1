#include "opt/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "opt/testing.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kDead = R"(graph @g(%x: f32[2]) {
  %a = neg(%x) : f32[2]
  %b = identity(%x) : f32[2]
  %c = abs(%b) : f32[2]
  return "out": %c
})";

PassPlan Plan(std::initializer_list<std::string> names) {
  PassPlan plan;
  for (const std::string& name : names) plan.steps.push_back({name, {}});
  return plan;
}

// Half a second passes from each look at the clock to the next.
class HalfSeconds final : public Clock {
 public:
  double Now() const override { return now_ += 0.5; }
  int64_t WallMillis() const override { return 0; }

 private:
  mutable double now_ = 0;
};

TEST(Driver, ReportsEachStep) {
  const auto graph = ParseOrDie(kDead);
  const HalfSeconds clock;
  RunOptions options;
  options.clock = &clock;
  const auto reports = RunPlan(*graph, Plan({"dead_code", "eliminate", "dead_code"}), options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  ASSERT_EQ(reports->size(), 3u);
  EXPECT_TRUE((*reports)[0].changed);
  EXPECT_EQ((*reports)[0].nodes_after, 2);
  EXPECT_EQ((*reports)[0].seconds, 0.5);
  EXPECT_TRUE((*reports)[1].changed);
  EXPECT_EQ((*reports)[1].nodes_after, 1);
  EXPECT_FALSE((*reports)[2].changed);
}

TEST(Driver, SkipsDisabledPasses) {
  const auto graph = ParseOrDie(kDead);
  RunOptions options;
  options.disabled = {"dead_code"};
  const auto reports = RunPlan(*graph, Plan({"dead_code", "eliminate"}), options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_TRUE((*reports)[0].disabled);
  EXPECT_EQ((*reports)[1].nodes_after, 2);  // neg is dead and still there
}

TEST(Driver, UnknownPassIsAnError) {
  const auto graph = ParseOrDie(kDead);
  EXPECT_THAT(std::string(RunPlan(*graph, Plan({"unfuse"})).status().message()),
              HasSubstr("no pass 'unfuse'"));
}

TEST(Driver, ObservesAndDumpsEachChange) {
  const auto graph = ParseOrDie(kDead);
  const testing::TemporaryFolder folder;
  std::vector<std::string> seen;
  RunOptions options;
  options.dump_folder = folder.path();
  options.observer = [&](int step, std::string_view pass, bool changed, const Graph&) {
    seen.push_back(absl::StrCat(step, " ", pass, " ", changed));
  };
  ASSERT_TRUE(RunPlan(*graph, Plan({"algebra", "dead_code"}), options).ok());
  EXPECT_THAT(seen, ::testing::ElementsAre("0 algebra 0", "1 dead_code 1"));
  EXPECT_EQ(*ReadFile(folder / "00_input.txt", 1 << 20), Print(*ParseOrDie(kDead)));
  EXPECT_EQ(*ReadFile(folder / "02_dead_code.txt", 1 << 20), Print(*graph));
  EXPECT_FALSE(std::filesystem::exists(folder / "01_algebra.txt"));
}

TEST(Driver, ParametersReachThePass) {
  constexpr std::string_view kText = R"(graph @g() {
    %a = constant() {value = f32[2]<1, 2>} : f32[2]
    %b = neg(%a) : f32[2]
    return "out": %b
  })";
  ExpectUnchanged("fold_constants max_bytes=7", kText);
  EXPECT_THAT(RunPasses("fold_constants max_bytes=8", kText), ::testing::Not(HasSubstr("neg")));
}

TEST(Driver, RunsOnRegions) {
  ExpectRewrite("eliminate\ndead_code", R"(graph @g(%c: bool[], %x: f32[2]) {
    %y = if(%c, %x) {
      graph(%x0: f32[2]) {
        %i = identity(%x0) : f32[2]
        return "": %i
      }
      graph(%x1: f32[2]) {
        %n = neg(%x1) : f32[2]
        return "": %n
      }
    } : f32[2]
    return "out": %y
  })",
                R"(graph @g(%c: bool[], %x: f32[2]) {
    %y = if(%c, %x) {
      graph(%x0: f32[2]) {
        return "": %x0
      }
      graph(%x1: f32[2]) {
        %n = neg(%x1) : f32[2]
        return "": %n
      }
    } : f32[2]
    return "out": %y
  })");
}

TEST(Driver, TheEvaluatorCanBeReplaced) {
  const auto graph = ParseOrDie(R"(graph @g() {
    %a = constant() {value = f32[1]<1>} : f32[1]
    %b = neg(%a) : f32[1]
    return "out": %b
  })");
  std::vector<std::string> lines;
  RunOptions options;
  options.evaluate = [](const Node&, const std::vector<Tensor>&) {
    return absl::UnimplementedError("not today");
  };
  options.log = [&](std::string_view line) { lines.emplace_back(line); };
  ASSERT_TRUE(RunPlan(*graph, Plan({"fold_constants"}), options).ok());
  EXPECT_THAT(lines, ::testing::ElementsAre(HasSubstr("neg '' is not folded: not today")));
}

}  // namespace
}  // namespace attune

#include "opt/pass_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(PassPlan, DefaultPlanIsTheTable) {
  const PassPlan plan = DefaultPlan();
  ASSERT_EQ(plan.steps.size(), PassTable().size());
  for (size_t i = 0; i < plan.steps.size(); ++i) EXPECT_EQ(plan.steps[i].pass, PassTable()[i].name);
  EXPECT_EQ(plan.steps.back().pass, "fuse");
}

TEST(PassPlan, RowsOfOnePassAgree) {
  for (const PassInfo& info : PassTable()) {
    const PassInfo* first = FindPass(info.name);
    EXPECT_EQ(info.function, first->function) << info.name;
    EXPECT_EQ(info.parameters.size(), first->parameters.size()) << info.name;
    EXPECT_FALSE(info.reason.empty()) << info.name;
  }
}

TEST(PassPlan, PrintsParametersAndReasons) {
  const PassPlan plan{{{"dead_code", {}}, {"fuse", {{"prologues", 0}}}}};
  EXPECT_EQ(Print(plan),
            "# Later passes spend no time on nodes that no output needs.\n"
            "dead_code\n"
            "# Must be last: lowering takes groups, and no other pass looks into them.\n"
            "fuse epilogues=1 prologues=0 max_nodes=64 max_inputs=16\n");
}

TEST(PassPlan, PrintedPlanParsesBack) {
  const std::string text = Print(DefaultPlan());
  const absl::StatusOr<PassPlan> parsed = ParsePassPlan(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(Print(*parsed), text);
}

TEST(PassPlan, SkipsCommentsAndSpace) {
  const absl::StatusOr<PassPlan> plan =
      ParsePassPlan("\n  # nothing\n\tdead_code # here\r\n fuse  max_nodes=3\n");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(*plan, (PassPlan{{{"dead_code", {}}, {"fuse", {{"max_nodes", 3}}}}}));
}

TEST(PassPlan, ErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"dead_code\nfuze", "line 2: no pass 'fuze'; the passes are dead_code, "},
      {"fuse depth=1", "line 1: pass fuse has no parameter 'depth'"},
      {"fuse max_nodes", "line 1: parameter max_nodes of pass fuse needs a whole number"},
      {"fuse max_nodes=-1", "needs a whole number"},
      {"fuse max_nodes=99999999999999999999", "needs a whole number"},
      {"fuse max_nodes=1 max_nodes=2", "line 1: parameter max_nodes of pass fuse is given twice"},
  };
  for (const auto& [text, message] : cases) {
    const absl::StatusOr<PassPlan> plan = ParsePassPlan(text);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(plan.status().message()), HasSubstr(message));
  }
}

TEST(PassPlan, RefusesEndlessPlans) {
  std::string text;
  for (int i = 0; i < 1001; ++i) text += "fuse\n";
  EXPECT_THAT(std::string(ParsePassPlan(text).status().message()), HasSubstr("over 1000 passes"));
}

TEST(PassPlan, EveryPlanChecksIndicesUnlessItSaysOtherwise) {
  PassPlan plan = DefaultPlan();
  EnsureIndexChecks(plan);
  EXPECT_EQ(plan, DefaultPlan());
  plan = {{{"dead_code", {}}, {"fuse", {}}}};
  EnsureIndexChecks(plan);
  EXPECT_EQ(plan, (PassPlan{{{"dead_code", {}}, {"check_indices", {}}, {"fuse", {}}}}));
  EXPECT_FALSE(HasUncheckedIndices(plan));
  for (PassPlan other : {plan, DefaultPlan(), PassPlan{}}) {
    SetUncheckedIndices(other);
    EnsureIndexChecks(other);
    EXPECT_TRUE(HasUncheckedIndices(other));
  }
}

}  // namespace
}  // namespace attune

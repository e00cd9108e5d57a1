#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "opt/testing.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// CONV makes the image.
std::string Norm(std::string_view made_by, int groups) {
  return absl::StrCat(R"(graph @g(%x: f32[1,4,3,3]) {
    %w = constant() {value = f32[4,1,1,1]<1,2,3,4>} : f32[4,1,1,1]
    %s = constant() {value = f32[4]<1,2,3,4>} : f32[4]
    %c = )",
                      made_by, R"( : f32[1,4,3,3]
    %y = group_norm(%c, %s, %s) {epsilon = 0.5, groups = )",
                      groups, R"(} : f32[1,4,3,3]
    return "y": %y
  })");
}

constexpr std::string_view kConv = "conv(%x, %w) {group = 4}";

TEST(DecomposeGroupNorm, StatisticsOfChannelsAreCombined) {
  const std::string after = RunPasses("decompose_group_norm", Norm(kConv, 2));
  EXPECT_THAT(after, Not(HasSubstr("group_norm")));
  EXPECT_THAT(after, HasSubstr("reduce_mean"));
  EXPECT_THAT(after, HasSubstr("{shape = [1, 2, 2]}"));
}

TEST(DecomposeGroupNorm, OthersHaveAKernel) {
  EXPECT_THAT(RunPasses("decompose_group_norm", Norm(kConv, 4)), HasSubstr("group_norm"));
  EXPECT_THAT(RunPasses("decompose_group_norm", Norm("relu(%x)", 2)), HasSubstr("group_norm"));
}

}  // namespace
}  // namespace attune

#include "plan/averages.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "plan/groups_for_test.h"

namespace attune {
namespace {

// A depthwise convolution, a gate on the mean of its result, and a sum that stands before the mean.
constexpr char kExcitation[] = R"(
graph @g(%x: f32[1,32,14,14]{c1/16}, %v: f32[32,1,3,3]) {
  %a = fused(%x, %v) { graph(%x: f32[1,32,14,14]{c1/16}, %w: f32[32,1,3,3]) {
    %y = conv(%x, %w) {group = GROUP, pads = [1, 1, 1, 1]} : f32[1,32,14,14]{c1/16}
    %z = relu(%y) : f32[1,32,14,14]{c1/16}
    return "": %z } } : f32[1,32,14,14]{c1/16}
  %s = fused(%x, %a) { graph(%x: f32[1,32,14,14]{c1/16}, %y: f32[1,32,14,14]{c1/16}) {
    %z = add(%x, %y) : f32[1,32,14,14]{c1/16}
    return "": %z } } : f32[1,32,14,14]{c1/16}
  %b = fused(%a) { graph(%x: f32[1,32,14,14]{c1/16}) {
    %y = reduce_mean(%x) {axes = AXES, keepdims = 1} : MEAN
    return "": %y } } : MEAN
  %c = fused(%b) { graph(%x: MEAN) {
    %y = sigmoid(%x) : MEAN
    return "": %y } } : MEAN
  return "": %s, "gate": %c
})";

// The operators of each group after averages are fused.
Groups GroupsFor(const std::string& group, const std::string& axes, const std::string& mean) {
  const auto graph =
      ParseGraph(absl::StrReplaceAll(kExcitation, {{"GROUP", group}, {"AXES", axes}, {"MEAN", mean}}));
  EXPECT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = FuseAverages(**graph, *TargetByName("znver4"));
  EXPECT_TRUE(status.ok()) << status;
  return OperatorsOfGroups(**graph);
}

TEST(FuseAveragesTest, TheMeanOfWhatChannelsAreMadeOfOneByOne) {
  EXPECT_EQ(GroupsFor("32", "[2, 3]", "f32[1,32,1,1]{c1/16}"),
            Groups({"conv+relu+reduce_mean", "add", "sigmoid"}));
}

TEST(FuseAveragesTest, OtherMeansStay) {
  const Groups as_before = {"conv+relu", "add", "reduce_mean", "sigmoid"};
  EXPECT_EQ(GroupsFor("32", "[3]", "f32[1,32,14,1]{c1/16}"), as_before);
  EXPECT_EQ(GroupsFor("32", "[2, 3]", "f32[1,32,1,1]"), as_before);
}

}  // namespace
}  // namespace attune

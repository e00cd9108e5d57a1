#include "plan/fuse_groups.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "plan/groups_for_test.h"

namespace attune {
namespace {

// The operators of each group after groups were fused.
Groups GroupsOf(const std::string& text, const Target& target = *TargetByName("znver4")) {
  const auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = FuseGroups(**graph, target);
  EXPECT_TRUE(status.ok()) << status;
  return OperatorsOfGroups(**graph);
}

// An expansion, a depthwise convolution and a projection, each a group.
constexpr char kBottleneck[] = R"(
graph @g(%x: f32[1,16,56,56]{c1/16}, %w: f32[96,16,1,1], %v: f32[96,1,3,3], %u: f32[16,96,1,1]) {
  %a = fused(%x, %w) { graph(%x: f32[1,16,56,56]{c1/16}, %w: f32[96,16,1,1]) {
    %y = conv(%x, %w) : f32[1,96,56,56]{c1/16}
    %z = relu(%y) : f32[1,96,56,56]{c1/16}
    return "": %z } } : f32[1,96,56,56]{c1/16}
  %b = fused(%a, %v) { graph(%x: f32[1,96,56,56]{c1/16}, %w: f32[96,1,3,3]) {
    %y = conv(%x, %w) {group = 96, pads = [1, 1, 1, 1]} : f32[1,96,56,56]{c1/16}
    return "": %y } } : f32[1,96,56,56]{c1/16}
  %c = fused(%x, %b, %u) { graph(%i: f32[1,16,56,56]{c1/16}, %x: f32[1,96,56,56]{c1/16}, %w: f32[16,96,1,1]) {
    %y = conv(%x, %w) : f32[1,16,56,56]{c1/16}
    %s = add(%y, %i) : f32[1,16,56,56]{c1/16}
    return "": %s } } : f32[1,16,56,56]{c1/16}
  return "": %c
})";

// The groups for a core with an L2 of this size.
Groups BottleneckFor(const std::string& text, int64_t l2_bytes, double l3_bytes_per_cycle) {
  Target target = *TargetByName("znver4");
  target.l2_bytes = l2_bytes;
  target.l3_bytes_per_cycle = l3_bytes_per_cycle;
  return GroupsOf(text, target);
}

TEST(FuseGroupsTest, LargeMapsStayWithinAKernel) {
  const Groups alone = {"conv+relu", "conv", "conv+add"};
  EXPECT_EQ(BottleneckFor(kBottleneck, 16 << 20, 1), alone);
  EXPECT_EQ(BottleneckFor(kBottleneck, 512 << 10, 0.5), Groups({"conv+relu+conv+conv+add"}));
  EXPECT_EQ(BottleneckFor(kBottleneck, 512 << 10, 100), alone);
}

TEST(FuseGroupsTest, AValueWithAnotherUseIsMade) {
  std::string text = kBottleneck;
  text.replace(text.rfind("return"), std::string::npos, "return \"\": %c, \"b\": %b\n}");
  EXPECT_EQ(BottleneckFor(text, 512 << 10, 0.5), Groups({"conv+relu+conv", "conv+add"}));
}

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

Groups ExcitationBy(const std::string& group, const std::string& axes, const std::string& mean) {
  return GroupsOf(absl::StrReplaceAll(kExcitation, {{"GROUP", group}, {"AXES", axes}, {"MEAN", mean}}));
}

TEST(FuseGroupsTest, TheMeanOfWhatChannelsAreMadeOfOneByOne) {
  EXPECT_EQ(ExcitationBy("32", "[2, 3]", "f32[1,32,1,1]{c1/16}"),
            Groups({"conv+relu+reduce_mean", "add", "sigmoid"}));
}

TEST(FuseGroupsTest, OtherMeansStay) {
  const Groups as_before = {"conv+relu", "add", "reduce_mean", "sigmoid"};
  EXPECT_EQ(ExcitationBy("32", "[3]", "f32[1,32,14,1]{c1/16}"), as_before);
  EXPECT_EQ(ExcitationBy("32", "[2, 3]", "f32[1,32,1,1]"), as_before);
}

// The end of a block with squeeze and excitation: its feature map is scaled and projected.
constexpr char kProjection[] = R"(
graph @g(%x: TYPE[1,144,SIZE]{c1/16}, %s: TYPE[FACTORS]{c1/16}, %w: TYPE[OUT,144,1,1], %b: TYPE[OUT]) {
  %m = fused(%s, %x) { graph(%s: TYPE[FACTORS]{c1/16}, %x: TYPE[1,144,SIZE]{c1/16}) {
    %y = mul(%s, %x) : TYPE[1,144,SIZE]{c1/16}
    return "": %y } } : TYPE[1,144,SIZE]{c1/16}
  %c = fused(%m, %w, %b) { graph(%x: TYPE[1,144,SIZE]{c1/16}, %w: TYPE[OUT,144,1,1], %b: TYPE[OUT]) {
    %y = conv(%x, %w, %b) : TYPE[1,OUT,SIZE]{c1/16}
    %r = relu(%y) : TYPE[1,OUT,SIZE]{c1/16}
    return "": %r } } : TYPE[1,OUT,SIZE]{c1/16}
  return "": %c
})";

struct Names {
  std::string size = "56,56", channels = "24", factors = "1,144,1,1", type = "f32";
};

std::string Projection(const Names& names = {}) {
  return absl::StrReplaceAll(
      kProjection,
      {{"SIZE", names.size}, {"OUT", names.channels}, {"FACTORS", names.factors}, {"TYPE", names.type}});
}

TEST(FuseGroupsTest, ALargeMapIsNotMultiplied) {
  EXPECT_EQ(GroupsOf(Projection()), Groups({"mul+conv+relu"}));
}

TEST(FuseGroupsTest, TheWeightsAreMultipliedInstead) {
  const auto graph = ParseGraph(Projection());
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(FuseGroups(**graph, *TargetByName("znver4")).ok());
  const Node& mul = *(*graph)->nodes().front()->region().nodes().front();
  EXPECT_EQ(mul.output()->type().shape(), (Shape{24, 144, 1, 1}));
}

TEST(FuseGroupsTest, ASmallMapIs) {
  EXPECT_EQ(GroupsOf(Projection({.size = "3,3", .channels = "320"})), Groups({"mul", "conv+relu"}));
}

TEST(FuseGroupsTest, PlainMapsHaveNoSuchKernel) {
  EXPECT_EQ(GroupsOf(absl::StrReplaceAll(Projection(), {{"{c1/16}", ""}})), Groups({"mul", "conv+relu"}));
}

TEST(FuseGroupsTest, OthersNeedTheProduct) {
  std::string text = Projection();
  text.replace(text.rfind("return"), std::string::npos, "return \"\": %c, \"m\": %m\n}");
  EXPECT_EQ(GroupsOf(text), Groups({"mul", "conv+relu"}));
}

TEST(FuseGroupsTest, FactorsOfPixelsAreNone) {
  EXPECT_EQ(GroupsOf(Projection({.factors = "1,144,56,56"})), Groups({"mul", "conv+relu"}));
}

TEST(FuseGroupsTest, ProductsOfNarrowNumbersTakeThemStored) {
  EXPECT_EQ(GroupsOf(Projection({.type = "bf16"})), Groups({"mul", "conv+relu"}));
}

}  // namespace
}  // namespace attune

#include "plan/channel_scales.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "graph/text.h"
#include "plan/groups_for_test.h"

namespace attune {
namespace {

// The end of a block with squeeze and excitation: its map is scaled and projected.
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

// The operators of each group after the weights took the factors where that pays.
Groups GroupsOf(const std::string& text) {
  const auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const absl::Status status = ScaleWeights(**graph, *TargetByName("znver4"));
  EXPECT_TRUE(status.ok()) << status;
  return OperatorsOfGroups(**graph);
}

TEST(ScaleWeightsTest, ALargeMapIsNotMultiplied) {
  EXPECT_EQ(GroupsOf(Projection()), Groups({"mul+conv+relu"}));
}

TEST(ScaleWeightsTest, TheWeightsAreMultipliedInstead) {
  const auto graph = ParseGraph(Projection());
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(ScaleWeights(**graph, *TargetByName("znver4")).ok());
  const Node& mul = *(*graph)->nodes().front()->region().nodes().front();
  EXPECT_EQ(mul.output()->type().shape(), (Shape{24, 144, 1, 1}));
}

TEST(ScaleWeightsTest, ASmallMapIs) {
  EXPECT_EQ(GroupsOf(Projection({.size = "3,3", .channels = "320"})), Groups({"mul", "conv+relu"}));
}

TEST(ScaleWeightsTest, PlainMapsHaveNoSuchKernel) {
  EXPECT_EQ(GroupsOf(absl::StrReplaceAll(Projection(), {{"{c1/16}", ""}})), Groups({"mul", "conv+relu"}));
}

TEST(ScaleWeightsTest, OthersNeedTheProduct) {
  std::string text = Projection();
  text.replace(text.rfind("return"), std::string::npos, "return \"\": %c, \"m\": %m\n}");
  EXPECT_EQ(GroupsOf(text), Groups({"mul", "conv+relu"}));
}

TEST(ScaleWeightsTest, FactorsOfPixelsAreNone) {
  EXPECT_EQ(GroupsOf(Projection({.factors = "1,144,56,56"})), Groups({"mul", "conv+relu"}));
}

TEST(ScaleWeightsTest, ProductsOfNarrowNumbersTakeThemStored) {
  EXPECT_EQ(GroupsOf(Projection({.type = "bf16"})), Groups({"mul", "conv+relu"}));
}

}  // namespace
}  // namespace attune

#include "plan/chains.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "graph/text.h"
#include "plan/groups_for_test.h"

namespace attune {
namespace {

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

// The operators of each group after chains are formed for a core with such a second-level cache.
Groups GroupsFor(const std::string& text, int64_t l2_bytes, double l3_bytes_per_cycle) {
  const auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  Target target = *TargetByName("znver4");
  target.l2_bytes = l2_bytes;
  target.l3_bytes_per_cycle = l3_bytes_per_cycle;
  const absl::Status status = FormChains(**graph, target);
  EXPECT_TRUE(status.ok()) << status;
  return OperatorsOfGroups(**graph);
}

TEST(FormChainsTest, LargeMapsStayWithinAKernel) {
  const Groups alone = {"conv+relu", "conv", "conv+add"};
  EXPECT_EQ(GroupsFor(kBottleneck, 16 << 20, 1), alone);
  EXPECT_EQ(GroupsFor(kBottleneck, 512 << 10, 0.5), Groups({"conv+relu+conv+conv+add"}));
  EXPECT_EQ(GroupsFor(kBottleneck, 512 << 10, 100), alone);
}

TEST(FormChainsTest, AValueWithAnotherUseIsMade) {
  std::string text = kBottleneck;
  text.replace(text.rfind("return"), std::string::npos, "return \"\": %c, \"b\": %b\n}");
  EXPECT_EQ(GroupsFor(text, 512 << 10, 0.5), Groups({"conv+relu+conv", "conv+add"}));
}

}  // namespace
}  // namespace attune

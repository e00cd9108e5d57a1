#include "plan/costs.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "graph/text.h"
#include "plan/arrange.h"
#include "plan/groups_for_test.h"

namespace attune {
namespace {

// A pointwise and a depthwise convolution of 24 channels, and the mean of the result.
constexpr char kGraph[] = R"(
graph @g(%x: f32[1,24,28,28], %v: f32[24,24,1,1], %w: f32[24,1,3,3]) {
  %a = fused(%x, %v) { graph(%x: f32[1,24,28,28], %v: f32[24,24,1,1]) {
    %y = conv(%x, %v) : f32[1,24,28,28]
    return "": %y } } : f32[1,24,28,28]
  %b = fused(%a, %w) { graph(%x: f32[1,24,28,28], %w: f32[24,1,3,3]) {
    %y = conv(%x, %w) {group = 24, pads = [1, 1, 1, 1]} : f32[1,24,28,28]
    return "": %y } } : f32[1,24,28,28]
  %m = fused(%b) { graph(%x: f32[1,24,28,28]) {
    %y = reduce_mean(%x) {axes = [2, 3], keepdims = 1} : f32[1,24,1,1]
    return "": %y } } : f32[1,24,1,1]
  return "": %b, "m": %m
})";

// Calibrated costs: fusing saves nothing, and half blocks take twice the time.
class Calibrated final : public KernelCosts {
 public:
  absl::StatusOr<double> CyclesOf(const Graph& region, const Target& target) const override {
    bool is_half = false;
    for (const auto& node : region.nodes())
      is_half |= node->output()->type().layout.block == target.Lanes(4) / 2;
    return is_half ? 2 : 1;
  }
  absl::StatusOr<double> SavingsOf(const Strategy&, const GroupFusion&, const MergedGroups&,
                                   const Target&) const override {
    return 0;
  }
  double SecondsOf(const std::string&) const override { return 0; }
};

struct Arranged {
  Groups groups;
  int block;  // of the first group's result
};
Arranged Arrange(const KernelCosts& costs) {
  const auto graph = ParseGraph(kGraph);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto classes = ArrangeGroups(**graph, *TargetByName("znver4"), {}, costs);
  EXPECT_TRUE(classes.ok()) << classes.status();
  return {OperatorsOfGroups(**graph), (*graph)->nodes().front()->output()->type().layout.block};
}

TEST(KernelCostsTest, DecideWhatIsArranged) {
  const Arranged predicted = Arrange(AnalyticChooser()), calibrated = Arrange(Calibrated());
  EXPECT_EQ(predicted.block, 8);
  EXPECT_EQ(predicted.groups.size() + 1, calibrated.groups.size());
  EXPECT_EQ(calibrated.block, 16);
}

}  // namespace
}  // namespace attune

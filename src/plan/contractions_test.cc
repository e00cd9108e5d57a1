#include "plan/contractions.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/text.h"

namespace attune {
namespace {

// Two equal products of i64, which share a kernel that no strategy is made for, one of f32, and a sum.
constexpr char kProducts[] = R"(
graph @g(%x: i64[2,3], %y: i64[3,4], %a: f32[8,4], %b: f32[4,16]) {
  %p = fused(%x, %y) { graph(%x: i64[2,3], %y: i64[3,4]) {
    %z = matmul(%x, %y) : i64[2,4]
    return "": %z } } @"first" : i64[2,4]
  %q = fused(%x, %y) { graph(%x: i64[2,3], %y: i64[3,4]) {
    %z = matmul(%x, %y) : i64[2,4]
    return "": %z } } @"second" : i64[2,4]
  %r = fused(%a, %b) { graph(%a: f32[8,4], %b: f32[4,16]) {
    %c = matmul(%a, %b) : f32[8,16]
    %d = relu(%c) : f32[8,16]
    return "": %d } } @"third" : f32[8,16]
  %s = fused(%p, %q) { graph(%p: i64[2,4], %q: i64[2,4]) {
    %t = add(%p, %q) : i64[2,4]
    return "": %t } } @"sum" : i64[2,4]
  return "s": %s, "r": %r
})";

TEST(ContractionsTest, EachCallIsThereWithWhyItIsSlow) {
  const Target target = *TargetByName("znver4");
  const auto graph = ParseGraph(kProducts);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto plan = PlanNetwork(**graph, target);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const auto contractions = ListContractions(*plan, target);
  ASSERT_TRUE(contractions.ok()) << contractions.status();
  ASSERT_EQ(contractions->size(), 3);
  const PlannedContraction &first = (*contractions)[0], &second = (*contractions)[1],
                           &third = (*contractions)[2];
  EXPECT_EQ(first.label, "first");
  EXPECT_EQ(second.label, "second");
  for (const PlannedContraction& slow : {first, second}) {
    EXPECT_EQ(slow.op, "matmul");
    EXPECT_TRUE(slow.strategy.starts_with("loops")) << slow.strategy;
    EXPECT_EQ(slow.multiply_adds, 24);
    EXPECT_EQ(slow.why_slow, "gemm: neither floats nor i32");
    EXPECT_EQ(slow.refusals.size() + 1, AllStrategies().size());
  }
  EXPECT_EQ(third.operators, "matmul+relu");
  EXPECT_TRUE(third.strategy.starts_with("gemm")) << third.strategy;
  EXPECT_EQ(third.multiply_adds, 512);
  EXPECT_FALSE(third.is_slow());

  const SlowContractions count = CountSlow(*contractions);
  EXPECT_EQ(count.slow, 2);
  EXPECT_EQ(count.all, 3);
  EXPECT_EQ(count.multiply_adds, 560);
  EXPECT_DOUBLE_EQ(count.share, 48.0 / 560);
}

TEST(ContractionsTest, WhereThereIsNoneThereIsNothingToCount) {
  const SlowContractions count = CountSlow({});
  EXPECT_EQ(count.all, 0);
  EXPECT_EQ(count.share, 0);
}

}  // namespace
}  // namespace attune

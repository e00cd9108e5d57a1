// Tests the trees by themselves: their queries, and transformations without a trace.
#include "tensor/schedule/loop_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/schedule/lower_tree.h"
#include "tensor/schedule/transforms.h"
#include "tensor/testing/definitions.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NamesOf(const std::vector<StageLoop>& loops) {
  std::vector<std::string> names;
  for (const StageLoop& loop : loops) names.push_back(loop.name);
  return names;
}

TEST(LoopTree, StagesBeginWithALoopForEachAxis) {
  const LoopTree tree(MatMulRelu(4, 5, 6));
  const auto c = tree.FindStage("c");
  ASSERT_TRUE(c.ok());
  EXPECT_THAT(NamesOf((*c)->loops), ElementsAre("c.i", "c.j", "c.k"));
  EXPECT_TRUE((*c)->loops.back().reduce);
  EXPECT_EQ((*c)->attached_to, nullptr);
  EXPECT_EQ(tree.FindStage("d").status().message(), "no stage 'd'");
  EXPECT_EQ(tree.FindLoop("c.x").status().message(), "no loop 'c.x'");
}

TEST(LoopTree, TheAxesOfADefinitionFollowItsLoops) {
  LoopTree tree(MatMulRelu(4, 5, 6));
  ASSERT_TRUE(SplitLoop(tree, *tree.FindLoop("c.j"), 2, /*overlapping=*/false).ok());
  ScheduledStage& c = **tree.FindStage("c");
  EXPECT_THAT(NamesOf(c.loops), ElementsAre("c.i", "c.j.o", "c.j.i", "c.k"));
  EXPECT_EQ(c.guards.size(), 1);  // 2 does not divide 5
  const Expr j = Expr(c.stage.axes[1].var);
  const Bounds bounds = tree.LoopBounds();
  const Affine value = bounds.Normalize(tree.Resolve(c, j));
  EXPECT_EQ(value.Find(c.loops[1].var)->coefficient, 2);
  EXPECT_EQ(value.Find(c.loops[2].var)->coefficient, 1);
  EXPECT_EQ(bounds.Range(value).max, 5);
}

TEST(LoopTree, AnAttachedStageHasLoopsOverItsRegion) {
  LoopTree tree(MatMulRelu(4, 5, 6));
  const auto space = static_cast<int64_t>(MemorySpace::kRegister);
  const LoopRef at = *tree.FindLoop("out.i");
  ASSERT_TRUE(ComputeStageAt(tree, **tree.FindStage("c"), at, space, /*within=*/false).ok());
  const ScheduledStage& c = **tree.FindStage("c");
  EXPECT_EQ(tree.AttachedStageOf(c.stage.output), &c);
  EXPECT_EQ(c.local->shape, (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(c.loops[0].extent, 1);
  EXPECT_EQ(tree.LoopOf(c.attached_to).loop().name, "out.i");
  EXPECT_EQ(tree.CheckNothingComputedAt(at.loop(), "op").message(), "op: stage 'c' is computed at 'out.i'");
  EXPECT_TRUE(PrepackableStages(tree).empty());
}

TEST(LoopTree, StagesKeepTheirPlaceWhenOthersComeBeforeThem) {
  LoopTree tree(MatMulRelu(4, 5, 6));
  const ScheduledStage* const out = *tree.FindStage("out");
  ASSERT_TRUE(CacheRead(tree, "a", **tree.FindStage("c")).ok());
  EXPECT_EQ(*tree.FindStage("out"), out);
  std::vector<std::string> names;
  for (const ScheduledStage& state : tree.stages()) names.push_back(state.stage.name);
  EXPECT_THAT(names, ElementsAre("a.c", "c", "out"));
  EXPECT_EQ(tree.CheckNewName("a.c", "op").message(), "op: there is a stage 'a.c' already");
}

TEST(LoopTree, WhatFailsLeavesItAsItWas) {
  LoopTree tree(MatMulRelu(4, 5, 6));
  const std::string before = Print(*LowerTree(tree, {}));
  ScheduledStage& c = **tree.FindStage("c");
  const LoopRef k = *tree.FindLoop("c.k");
  EXPECT_FALSE(SplitLoop(tree, k, 0, false).ok());
  EXPECT_FALSE(MarkLoop(k, LoopKind::kParallel, "").ok());
  EXPECT_FALSE(InlineStage(tree, c).ok());
  EXPECT_FALSE(FactorReduction(tree, c, k, kLastAxis).ok());
  EXPECT_EQ(Print(*LowerTree(tree, {})), before);
}

}  // namespace
}  // namespace attune

#include "graph/op.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(Op, TraitsAreThoseOfTheCategory) {
  EXPECT_EQ(GetOpInfo(Op::kConv).anchor_rank, 4);
  EXPECT_EQ(GetOpInfo(Op::kConv).fuses, Fusing::kEpilogue);
  EXPECT_EQ(GetOpInfo(Op::kBroadcast).flops, 0);
  EXPECT_EQ(GetOpInfo(Op::kFloor).blocks, Blocks::kJoins);
}

TEST(Op, TraitsOfALineTakeTheirPlace) {
  EXPECT_EQ(GetOpInfo(Op::kReshape).fuses, Fusing::kNothing);
  EXPECT_EQ(GetOpInfo(Op::kGelu).flops, 31);
  EXPECT_EQ(GetOpInfo(Op::kGelu).reads, 4);
  EXPECT_EQ(GetOpInfo(Op::kConcat).moves, -1);
  EXPECT_TRUE(GetOpInfo(Op::kAdd).cheap && GetOpInfo(Op::kAdd).commutes);
  EXPECT_FALSE(GetOpInfo(Op::kSub).commutes);
}

// Passes rely on it.
TEST(Op, WhatCommutesHasTwoOperands) {
  for (const OpInfo& op : AllOps()) {
    if (op.commutes) EXPECT_TRUE(op.min_inputs == 2 && op.max_inputs == 2) << op.name;
  }
}

// Otherwise a layout would differ from the one that inference gives.
TEST(Op, ElementwiseOperatorsJoinBlocks) {
  for (const OpInfo& op : AllOps()) {
    if (IsElementwise(op.op)) EXPECT_EQ(op.blocks, Blocks::kJoins) << op.name;
  }
}

}  // namespace
}  // namespace attune

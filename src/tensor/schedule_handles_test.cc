// Schedules by handles: the traces that they leave, and handles of loops that there are no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/schedule.h"
#include "tensor/testing/definitions.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ScheduleHandles, LeaveATraceOfNames) {
  Schedule s(MatMulRelu(12, 64, 32));
  const StageHandle out = s.StageNamed("out"), c = s.StageNamed("c");
  const SplitLoops rows = *s.SplitOverlapping(s.Loop(out, "i"), 5), columns = *s.Split(s.Loop(out, "j"), 16);
  ASSERT_TRUE(s.Reorder({rows.outer, columns.outer, rows.inner, columns.inner}).ok());
  const LoopHandle tile = *s.Fuse(rows.outer, columns.outer, "out.tile");
  ASSERT_TRUE(s.ComputeAt(c, tile, MemorySpace::kRegister).ok());
  ASSERT_TRUE(s.Peel(tile, 0, 1).ok());
  const std::vector<Primitive> trace = {{"split_overlapping", {"out.i"}, {5}},
                                        {"split", {"out.j"}, {16}},
                                        {"reorder", {"out.i.o", "out.j.o", "out.i.i", "out.j.i"}, {}},
                                        {"fuse", {"out.i.o", "out.j.o", "out.tile"}, {}},
                                        {"compute_at", {"c", "out.tile"}, {2}},
                                        {"peel", {"out.tile"}, {0, 1}}};
  EXPECT_EQ(s.trace(), trace);
  EXPECT_EQ(*s.Loops(out), std::vector<LoopHandle>({tile, rows.inner, columns.inner}));
  EXPECT_EQ(*s.Extent(rows.inner), 5);
}

TEST(ScheduleHandles, AreOfTheStagesThatPrimitivesMake) {
  Schedule s(MatMulRelu(12, 64, 32));
  const StageHandle c = s.StageNamed("c");
  const SplitLoops terms = *s.Split(s.Loop(c, "k"), 8);
  const FactoredReduction lanes = *s.Rfactor(c, terms.inner);
  EXPECT_EQ(lanes.stage.name(), "c.rf");
  EXPECT_EQ(*s.Loops(lanes.stage),
            std::vector<LoopHandle>(
                {s.Loop(lanes.stage, "i"), s.Loop(lanes.stage, "j"), lanes.axis, lanes.terms.front()}));
  EXPECT_EQ(*s.Extent(lanes.axis), 8);
  EXPECT_EQ(*s.Extent(lanes.terms.front()), 4);
  EXPECT_EQ((*s.Loops(c)).back(), lanes.last);
  const StageHandle sums = *s.CacheWrite(lanes.stage);
  EXPECT_EQ(sums.name(), "c.rf.acc");
  const Buffer b = s.Stages().front().value->args[1]->buffer;
  const StageHandle copy = *s.Pack(b, sums, {{1, 16}}, {1, 0, 2});
  EXPECT_EQ((*s.Output(copy))->name, "b.packed");
  EXPECT_EQ(s.LoopsOver(copy, {"i1", "i0", "i1v"}), *s.Loops(copy));
  EXPECT_EQ((*s.CacheRead(*s.Output(copy), sums)).name(), "b.packed.c.rf.acc");
}

// A loop over a whole axis is the same one when its stage moves; what it was split into is not.
TEST(ScheduleHandles, StayGoodWhenAStageMoves) {
  Schedule s(MatMulRelu(12, 64, 32));
  const StageHandle out = s.StageNamed("out"), c = s.StageNamed("c");
  const LoopHandle row = s.Loop(c, "i"), column = s.Loop(c, "j");
  const SplitLoops columns = *s.Split(column, 16);
  EXPECT_FALSE(s.Extent(column).ok());
  ASSERT_TRUE(s.ComputeAt(c, s.Loop(out, "i"), MemorySpace::kScratch).ok());
  EXPECT_EQ(*s.Extent(row), 1);
  EXPECT_THAT(s.Unroll(columns.inner).message(), HasSubstr("no loop 'c.j.i'"));
  EXPECT_EQ(*s.Extent(s.Loop(c, "j")), 64);
}

TEST(ScheduleHandles, NameWhatThereIsNot) {
  Schedule s(MatMulRelu(12, 64, 32));
  const StageHandle out = s.StageNamed("out");
  const LoopHandle row = s.Loop(out, "i");
  ASSERT_TRUE(s.Split(row, 4).ok());
  EXPECT_THAT(s.Split(row, 2).status().message(), HasSubstr("no loop 'out.i'"));
  EXPECT_THAT(s.Vectorize(s.Loop(out, "z")).message(), HasSubstr("no loop 'out.z'"));
  EXPECT_THAT(s.Unroll(LoopHandle()).message(), HasSubstr("no loop ''"));
  EXPECT_THAT(s.Inline(s.StageNamed("nothing")).message(), HasSubstr("no stage 'nothing'"));
  EXPECT_THAT(s.Output(StageHandle()).status().message(), HasSubstr("no stage ''"));
  EXPECT_THAT(s.trace(), ElementsAre(Primitive{"split", {"out.i"}, {4}}));
}

}  // namespace
}  // namespace attune

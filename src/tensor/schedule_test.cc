#include "tensor/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_split.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// Where a stage is computed at a loop, as a trace has it.
constexpr auto kScratch = static_cast<int64_t>(MemorySpace::kScratch),
               kRegister = static_cast<int64_t>(MemorySpace::kRegister);

// c[i,j] = Σ a[i,k] b[k,j]; out = max(c, 0)
ComputeDef MatMulRelu(int64_t m, int64_t n, int64_t k) {
  ComputeDef def;
  def.name = "matmul";
  const Buffer a = MakeBuffer("a", DType::kF32, {m, k}), b = MakeBuffer("b", DType::kF32, {k, n});
  const Buffer c = MakeBuffer("c", DType::kF32, {m, n}), out = MakeBuffer("out", DType::kF32, {m, n});
  def.params = {{a, BufferRole::kInput}, {b, BufferRole::kInput}, {out, BufferRole::kOutput}};
  const Var i = MakeVar("i"), j = MakeVar("j"), r = MakeVar("k"), x = MakeVar("i"), y = MakeVar("j");
  Stage contraction;
  contraction.name = "c";
  contraction.output = c;
  contraction.axes = {{i, m}, {j, n}};
  contraction.reduce_axes = {{r, k}};
  contraction.init = FloatConst(0);
  contraction.value = Load(a, {i, r}) * Load(b, {r, j});
  Stage relu;
  relu.name = "out";
  relu.output = out;
  relu.axes = {{x, m}, {y, n}};
  relu.value = Max(Load(c, {x, y}), FloatConst(0));
  def.stages = {contraction, relu};
  return def;
}

TEST(Schedule, RegisterTileInAnEpilogue) {
  Schedule s(MatMulRelu(12, 64, 32));
  ASSERT_TRUE(s.Apply({"split", {"out.i"}, {6}}).ok());
  ASSERT_TRUE(s.Apply({"split", {"out.j"}, {16}}).ok());
  ASSERT_TRUE(s.Apply({"reorder", {"out.i.o", "out.j.o", "out.i.i", "out.j.i"}}).ok());
  ASSERT_TRUE(s.Apply({"vectorize", {"out.j.i"}}).ok());
  ASSERT_TRUE(s.Apply({"unroll", {"out.i.i"}}).ok());
  ASSERT_TRUE(s.Apply({"compute_at", {"c", "out.j.o"}, {kRegister}}).ok());
  EXPECT_EQ(*s.Extent(s.Loop(s.StageNamed("c"), "i")), 6);
  EXPECT_EQ(*s.Extent(s.Loop(s.StageNamed("c"), "j")), 16);
  ASSERT_TRUE(s.Apply({"reorder", {"c.k", "c.i", "c.j"}}).ok());
  ASSERT_TRUE(s.Apply({"vectorize", {"c.j"}}).ok());
  ASSERT_TRUE(s.Apply({"unroll", {"c.i"}}).ok());
  const auto nest = s.Lower();
  ASSERT_TRUE(nest.ok());
  EXPECT_EQ(Print(*nest),
            R"(kernel @matmul(in a: f32[12,32] global, in b: f32[32,64] global, out out: f32[12,64] global) {
  root {
    for %out.i.o in 0, 2 {
      for %out.j.o in 0, 4 {
        allocate c: f32[6,16] register {
          unroll %c.i in 0, 6 {
            vector %c.j in 0, 16 {
              c[%c.i, %c.j] = f32 0
            }
          }
          for %c.k in 0, 32 {
            unroll %c.i in 0, 6 {
              vector %c.j in 0, 16 {
                c[%c.i, %c.j] = add(c[%c.i, %c.j], mul(a[add(mul(%out.i.o, 6), %c.i), %c.k], b[%c.k, add(mul(%out.j.o, 16), %c.j)]))
              }
            }
          }
          unroll %out.i.i in 0, 6 {
            vector %out.j.i in 0, 16 {
              out[add(mul(%out.i.o, 6), %out.i.i), add(mul(%out.j.o, 16), %out.j.i)] = max(c[%out.i.i, %out.j.i], f32 0)
            }
          }
        }
      }
    }
  }
}
)");
}

TEST(Schedule, WhatFollowsALoopIsComputedForWhatItHasMade) {
  Schedule s(MatMulRelu(12, 64, 32));
  ASSERT_TRUE(s.Apply({"split", {"c.i"}, {4}}).ok());
  ASSERT_TRUE(s.Apply({"parallel", {"c.i.o"}}).ok());
  ASSERT_TRUE(s.Apply({"compute_after", {"out", "c.i.i"}}).ok());
  ASSERT_TRUE(s.Apply({"vectorize", {"out.j"}}).ok());
  EXPECT_EQ(*s.Loops(s.StageNamed("out")), s.LoopsOver(s.StageNamed("out"), {"j"}));
  const auto nest = s.Lower();
  ASSERT_TRUE(nest.ok());
  EXPECT_EQ(
      Print(*nest),
      R"(kernel @matmul(in a: f32[12,32] global, in b: f32[32,64] global, out out: f32[12,64] global, workspace c: f32[12,64] global) {
  root {
    parallel %c.i.o in 0, 3 {
      for %c.i.i in 0, 4 {
        for %c.j in 0, 64 {
          c[add(mul(%c.i.o, 4), %c.i.i), %c.j] = f32 0
          for %c.k in 0, 32 {
            c[add(mul(%c.i.o, 4), %c.i.i), %c.j] = add(c[add(mul(%c.i.o, 4), %c.i.i), %c.j], mul(a[add(mul(%c.i.o, 4), %c.i.i), %c.k], b[%c.k, %c.j]))
          }
        }
        vector %out.j in 0, 64 {
          out[add(mul(%c.i.o, 4), %c.i.i), %out.j] = max(c[add(mul(%c.i.o, 4), %c.i.i), %out.j], f32 0)
        }
      }
    }
  }
}
)");
}

// Guarded iterations go beyond the fused loop: a quotient by its extent would not be known to be 0 there.
TEST(Schedule, ALoopOfOneIterationVanishesInAFusedOne) {
  ComputeDef def;
  def.name = "copy";
  const Buffer in = MakeBuffer("in", DType::kF32, {1, 19, 1}),
               out = MakeBuffer("out", DType::kF32, {1, 19, 1});
  def.params = {{in, BufferRole::kInput}, {out, BufferRole::kOutput}};
  Stage copy;
  copy.name = "out";
  copy.output = out;
  copy.axes = {{MakeVar("i"), 1}, {MakeVar("j"), 19}, {MakeVar("k"), 1}};
  copy.value = Load(in, {copy.axes[0].var, copy.axes[1].var, copy.axes[2].var});
  def.stages = {copy};
  Schedule s(def);
  ASSERT_TRUE(s.Apply({"fuse", {"out.j", "out.k", "out.jk"}}).ok());
  ASSERT_TRUE(s.Apply({"fuse", {"out.i", "out.jk", "out.ijk"}}).ok());
  ASSERT_TRUE(s.Apply({"split", {"out.ijk"}, {8}}).ok());
  const auto nest = s.Lower();
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_THAT(Print(*nest), HasSubstr("out[0, add(mul(%out.ijk.o, 8), %out.ijk.i), 0] = "
                                      "in[0, add(mul(%out.ijk.o, 8), %out.ijk.i), 0]"));
}

// Seven rows in tiles of three: rows 0 to 2, 3 to 5, and 4 to 6, of which the last alone is new.
TEST(Schedule, SplitsIntoTilesOfWhichTheLastOverlaps) {
  Schedule s(MatMulRelu(7, 16, 4));
  ASSERT_TRUE(s.Apply({"split_overlapping", {"out.i"}, {3}}).ok());
  ASSERT_TRUE(s.Apply({"compute_at", {"c", "out.i.o"}, {kScratch}}).ok());
  ASSERT_TRUE(s.Apply({"overcompute", {"c"}}).ok());
  const auto nest = s.Lower();
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_THAT(Print(*nest),
              AllOf(HasSubstr("allocate c: f32[3,16] scratch"),
                    HasSubstr("a[add(min(mul(%out.i.o, 3), 4), %c.i), %c.k]"),
                    HasSubstr("if ge(add(min(mul(%out.i.o, 3), 4), %out.i.i), mul(%out.i.o, 3))")));
}

// Tiles of 4 × 16, a column of tiles after the other.
void SplitIntoTiles(Schedule& s, const std::string& stage) {
  ASSERT_TRUE(s.Apply({"split", {stage + ".i"}, {4}}).ok());
  ASSERT_TRUE(s.Apply({"split", {stage + ".j"}, {16}}).ok());
  ASSERT_TRUE(s.Apply({"reorder", {stage + ".j.o", stage + ".i.o", stage + ".i.i", stage + ".j.i"}}).ok());
}

// A panel of 16 columns, 32 lines, is used for three tiles of rows: in 3 × 32 iterations, a line each.
TEST(Schedule, PrefetchesTheNextBlockInEvenShares) {
  Schedule s(MatMulRelu(12, 64, 32));
  ASSERT_TRUE(s.Apply({"pack", {"b", "c"}, {1, 1, 16, 1, 0, 2}}).ok());
  SplitIntoTiles(s, "out");
  ASSERT_TRUE(s.Apply({"fuse", {"out.j.o", "out.i.o", "out.tile"}}).ok());
  ASSERT_TRUE(s.Apply({"compute_at", {"c", "out.tile"}, {kRegister}}).ok());
  ASSERT_TRUE(s.Apply({"reorder", {"c.k", "c.i", "c.j"}}).ok());
  ASSERT_TRUE(s.Apply({"prefetch", {"b.packed", "c.k"}}).ok());
  const auto nest = s.Lower({"b.packed"});
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_THAT(Print(*nest), HasSubstr("prefetch b.packed[floor_mod(add(floor_div(%out.tile, 3), 1), 4), 0, "
                                      "mul(add(mul(floor_mod(%out.tile, 3), 32), %c.k), 16)]"));
}

// Sums in two blocks of terms, each with four panels: after a block's last panel comes the other's first.
TEST(Schedule, PrefetchesBlocksAlongTwoAxes) {
  Schedule s(MatMulRelu(12, 64, 32));
  ASSERT_TRUE(s.Apply({"split", {"c.k"}, {16}}).ok());
  ASSERT_TRUE(s.Apply({"rfactor", {"c", "c.k.o"}, {0}}).ok());
  ASSERT_TRUE(s.Apply({"cache_write", {"c.rf"}}).ok());
  ASSERT_TRUE(s.Apply({"pack", {"b", "c.rf.acc"}, {2, 1, 16, 0, 16, 0, 2, 1, 3}}).ok());
  SplitIntoTiles(s, "c.rf");
  ASSERT_TRUE(s.Apply({"fuse", {"c.rf.k.o", "c.rf.j.o", "c.rf.panel"}}).ok());
  ASSERT_TRUE(s.Apply({"fuse", {"c.rf.panel", "c.rf.i.o", "c.rf.tile"}}).ok());
  ASSERT_TRUE(s.Apply({"compute_at", {"c.rf.acc", "c.rf.tile"}, {kRegister}}).ok());
  ASSERT_TRUE(s.Apply({"reorder", {"c.rf.acc.k.i", "c.rf.acc.i", "c.rf.acc.j"}}).ok());
  ASSERT_TRUE(s.Apply({"prefetch", {"b.packed", "c.rf.acc.k.i"}}).ok());
  const auto nest = s.Lower({"b.packed"});
  ASSERT_TRUE(nest.ok()) << nest.status();
  // 16 lines in the 3 × 16 iterations of a panel.
  EXPECT_THAT(Print(*nest),
              AllOf(HasSubstr("in b.packed: f32[2,4,16,16]"),
                    HasSubstr("prefetch b.packed[floor_mod(add(floor_div(%c.rf.tile, 12), floor_div("),
                    HasSubstr(", 0, mul(add(mul(floor_mod(%c.rf.tile, 3), 16), %c.rf.acc.k.i), 16)]")));
}

// In 16 columns a tile has four lines, which two iterations of the reduction share: rows 0 and 1, then 2 and
// 3. After three tiles of rows, the first is the next.
TEST(Schedule, PrefetchesWhatTheNextTileReads) {
  Schedule s(MatMulRelu(12, 64, 32));
  SplitIntoTiles(s, "out");
  ASSERT_TRUE(s.Apply({"fuse", {"out.j.o", "out.i.o", "out.tile"}}).ok());
  ASSERT_TRUE(s.Apply({"compute_at", {"c", "out.tile"}, {kRegister}}).ok());
  ASSERT_TRUE(s.Apply({"split", {"c.k"}, {8}}).ok());
  ASSERT_TRUE(s.Apply({"reorder", {"c.k.o", "c.k.i", "c.i", "c.j"}}).ok());
  ASSERT_TRUE(s.Apply({"prefetch_next_tile", {"a", "c.k.o"}}).ok());
  const auto nest = s.Lower();
  ASSERT_TRUE(nest.ok()) << nest.status();
  for (const char* row : {"4", "5"}) {
    EXPECT_THAT(
        Print(*nest),
        HasSubstr(absl::StrCat("prefetch a[add(add(add(add(mul(%out.tile, 4), mul(floor_div(add(%out.tile, "
                               "1), 3), -12)), mul(%c.k.o, 2)), mul(floor_div(%c.k.o, 2), -4)), ",
                               row, "), mul(%c.k.o, 8)]")));
  }
}

// c[i,j] = Σ a[i + k - 1] b[k,j] where a has such an element, of 60 columns in 4 blocks of 16; out = c
TEST(Schedule, OvercomputesLanesThoughItsLoopGoesOverRowsToo) {
  // The 60 columns in b: as a condition where the sum has 64, and as the end of its axis where it has not.
  const auto filter = [](int64_t columns) {
    ComputeDef def;
    def.name = "filter";
    const Buffer a = MakeBuffer("a", DType::kF32, {12}), b = MakeBuffer("b", DType::kF32, {3, 60});
    const Buffer c = MakeBuffer("c", DType::kF32, {12, columns});
    const Buffer out = MakeBuffer("out", DType::kF32, {12, columns});
    def.params = {{a, BufferRole::kInput}, {b, BufferRole::kInput}, {out, BufferRole::kOutput}};
    const Var i = MakeVar("i"), j = MakeVar("j"), k = MakeVar("k"), x = MakeVar("i"), y = MakeVar("j");
    Stage sum;
    sum.name = "c";
    sum.output = c;
    sum.axes = {{i, 12}, {j, columns}};
    sum.reduce_axes = {{k, 3}};
    sum.init = FloatConst(0);
    const Expr row = Expr(i) + Expr(k) - Expr(1);
    sum.where = And(row >= Expr(0), row < Expr(12));
    if (columns > 60) sum.where = And(sum.where, Expr(j) < Expr(60));
    sum.value = Load(a, {row}) * Load(b, {k, j});
    Stage copy;
    copy.name = "out";
    copy.output = out;
    copy.axes = {{x, 12}, {y, columns}};
    copy.value = Load(c, {x, y});
    def.stages = {sum, copy};
    return def;
  };
  const auto schedule = [&](int64_t columns, bool packs) {
    Schedule s(filter(columns));
    if (packs) EXPECT_TRUE(s.Apply({"pack", {"b", "c"}, {1, 1, 16, 1, 0, 2}}).ok());
    EXPECT_TRUE(s.Apply({"split", {"out.j"}, {16}}).ok());
    EXPECT_TRUE(s.Apply({"reorder", {"out.j.o", "out.i", "out.j.i"}}).ok());
    EXPECT_TRUE(s.Apply({"fuse", {"out.j.o", "out.i", "out.tile"}}).ok());
    EXPECT_TRUE(s.Apply({"compute_at", {"c", "out.tile"}, {kRegister}}).ok());
    return s;
  };
  for (const int64_t columns : {60, 64}) {
    Schedule plain = schedule(columns, false);
    EXPECT_THAT(std::string(plain.Overcompute(plain.StageNamed("c")).message()),
                HasSubstr("beyond axis 1 of 'b'"));
    Schedule packed = schedule(columns, true);
    ASSERT_TRUE(packed.Overcompute(packed.StageNamed("c")).ok());
    const auto nest = packed.Lower({"b.packed"});
    ASSERT_TRUE(nest.ok()) << nest.status();
    EXPECT_THAT(Print(*nest), HasSubstr(", 12)"));
    // The end of the output alone.
    const std::vector<std::string> between = absl::StrSplit(Print(*nest), ", 60)");
    EXPECT_EQ(between.size() - 1, columns == 60 ? 1 : 0);
  }
}

// The packed copy of b depends on b alone; a copy of a part of it does not make the whole buffer.
TEST(Schedule, WhatDependsOnOneInputIsAPrepacking) {
  Schedule s(MatMulRelu(12, 64, 32));
  ASSERT_TRUE(s.Apply({"pack", {"b", "c"}, {1, 1, 16, 1, 0, 2}}).ok());
  ASSERT_EQ(s.Prepackings().size(), 1);
  EXPECT_EQ(s.Prepackings()[0].stage, "b.packed");
  EXPECT_EQ(s.Prepackings()[0].input, "b");
  const auto nest = s.Lower({"b.packed"});
  ASSERT_TRUE(nest.ok()) << nest.status();
  EXPECT_THAT(Print(*nest), HasSubstr("in b.packed: f32[4,32,16] global"));
  const auto prepacking = s.LowerPrepacking("b.packed");
  ASSERT_TRUE(prepacking.ok()) << prepacking.status();
  EXPECT_THAT(Print(*prepacking), HasSubstr("(in b: f32[32,64] global, out b.packed: f32[4,32,16] global)"));

  ComputeDef halves = MatMulRelu(12, 64, 32);
  const Buffer b = halves.params[1].buffer, both = MakeBuffer("both", DType::kF32, {2, 32, 64});
  for (int64_t half = 0; half < 2; ++half) {
    Stage copy;
    copy.name = half == 0 ? "first" : "second";
    copy.output = both;
    copy.axes = {{MakeVar("h"), 1, half}, {MakeVar("i"), 32}, {MakeVar("j"), 64}};
    copy.value = Load(b, {copy.axes[1].var, copy.axes[2].var});
    halves.stages.insert(halves.stages.begin(), copy);
  }
  EXPECT_TRUE(Schedule(halves).Prepackings().empty());
}

}  // namespace
}  // namespace attune

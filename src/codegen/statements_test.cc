// Statements: loops, lets, branches, allocations, phases, and the errors for those that cannot be compiled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "codegen/run_kernel.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expr ToI32(const Expr& e) { return CastTo(DType::kI32, e); }

// Triangular loops: the bounds of the inner loop depend on the outer variable, and it may run no iteration
// at all.
TEST(Statements, LoopBoundsMayDependOnVariables) {
  const Buffer out = MakeBuffer("out", DType::kI32, {5, 5});
  const Var i = MakeVar("i"), j = MakeVar("j");
  const Stmt store = MakeStore(out, {Expr(i), Expr(j)}, ToI32(Expr(i) * 10 + Expr(j)));
  const Stmt body = For(i, 5, kSerial, MakeFor(j, Expr(i) + 1, Expr(4) - Expr(i), kSerial, store));
  ForEachTarget(Nest({{out, kOut}}, {body}), [](const TestKernel& kernel) {
    std::vector<int32_t> got(25, -1);
    ASSERT_EQ(kernel.Run({got.data()}), 0);
    for (int row = 0; row < 5; ++row) {
      for (int column = 0; column < 5; ++column) {
        EXPECT_EQ(got[static_cast<size_t>(5 * row + column)], column > row ? 10 * row + column : -1);
      }
    }
  });
}

TEST(Statements, LetsBranchesAndWhile) {
  const Buffer in = MakeBuffer("in", DType::kI64, {8}), out = MakeBuffer("out", DType::kI64, {8});
  const Buffer steps = MakeBuffer("steps", DType::kI64, {1}, MemorySpace::kScratch);
  const Buffer now = MakeBuffer("now", DType::kI64, {1}, MemorySpace::kScratch);
  const Var i = MakeVar("i"), v = MakeVar("v");
  // The number of steps of the Collatz sequence, with the current number in v.
  const Stmt step =
      MakeLet(v, Load(now, {0}),
              MakeSequence({MakeIf(Equal(FloorMod(Expr(v), 2), 0), MakeStore(now, {0}, FloorDiv(Expr(v), 2)),
                                   MakeStore(now, {0}, Expr(v) * 3 + 1)),
                            MakeStore(steps, {0}, Load(steps, {0}) + 1)}));
  const Stmt body = MakeAllocate(
      steps,
      MakeAllocate(now, MakeSequence({MakeStore(now, {0}, Load(in, {Expr(i)})), MakeStore(steps, {0}, 0),
                                      MakeWhile(Expr(1) < Load(now, {0}), step),
                                      MakeStore(out, {Expr(i)}, Load(steps, {0}))})));
  ForEachTarget(Nest({{in, kIn}, {out, kOut}}, {For(i, 8, kParallel, body)}), [](const TestKernel& kernel) {
    EXPECT_EQ(kernel.compiled().scratch_bytes, 128);
    std::vector<int64_t> in_values = {1, 2, 3, 6, 7, 27, 97, 1}, got(8);
    ASSERT_EQ(kernel.Run({in_values.data(), got.data()}, 3), 0);
    EXPECT_THAT(got, ElementsAre(0, 1, 7, 8, 16, 111, 118, 0));
  });
}

// A product is the same number everywhere: the difference of two equal products is 0, and its square root
// is not NaN. An fma rounds once.
TEST(Statements, DifferencesOfEqualProductsAreZero) {
  const Buffer in = MakeBuffer("in", DType::kF32, {16}), out = MakeBuffer("out", DType::kF32, {3, 16});
  const Var i = MakeVar("i");
  const Expr x = Load(in, {Expr(i)}), y = x * FloatConst(0.7);
  const Expr twin = Load(in, {Expr(i)}) * Load(in, {Expr(i)});
  const Stmt body = MakeSequence({MakeStore(out, {0, Expr(i)}, MakeOp(MathOp::kSqrt, {x * x - twin})),
                                  MakeStore(out, {1, Expr(i)}, Max(y, FloatConst(0)) + -y),
                                  MakeStore(out, {2, Expr(i)}, Fma(x, x, -(x * x)))});
  for (const LoopKind kind : {kSerial, LoopKind::kVectorized}) {
    ForEachTarget(Nest({{in, kIn}, {out, kOut}}, {For(i, 16, kind, body)}), [](const TestKernel& kernel) {
      std::vector<float> values(16), got(48, -1);
      for (size_t k = 0; k < values.size(); ++k) values[k] = 1 / (static_cast<float>(k) + 3);
      ASSERT_EQ(kernel.Run({values.data(), got.data()}), 0);
      for (size_t k = 0; k < values.size(); ++k) {
        const float value = values[k];
        EXPECT_EQ(got[k], 0) << value;
        EXPECT_EQ(got[16 + k], 0) << value;
        EXPECT_EQ(got[32 + k], std::fma(value, value, -(value * value))) << value;
      }
    });
  }
}

// An access that is indexed by a let of a vector is a gather; one that is indexed by a let of a scalar
// stays contiguous.
TEST(Statements, LetsMayHoldLanes) {
  const Buffer in = MakeBuffer("in", DType::kF32, {32}), out = MakeBuffer("out", DType::kF32, {16});
  const Var l = MakeVar("l"), v = MakeVar("v"), w = MakeVar("w", DType::kF32);
  const Stmt store = MakeStore(out, {Expr(l)}, Expr(w) * Expr(w) + Load(in, {Expr(l)}));
  const Stmt body =
      For(l, 16, kVector, MakeLet(v, FloorMod(Expr(l) * 5, 32), MakeLet(w, Load(in, {Expr(v)}), store)));
  ForEachTarget(Nest({{in, kIn}, {out, kOut}}, {body}), [](const TestKernel& kernel) {
    std::vector<float> in_values(32), got(16);
    std::iota(in_values.begin(), in_values.end(), 0.0f);
    ASSERT_EQ(kernel.Run({in_values.data(), got.data()}), 0);
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(got[i], static_cast<float>((i * 5 % 32) * (i * 5 % 32) + i));
  });
}

// Rows of 11 elements in vectors of 8, of which the last one ends behind the buffer, and rows that begin
// before it: masked, loads and stores of registers are whole.
TEST(Statements, MaskedVectorsMayLeaveABufferInRegisters) {
  constexpr int64_t kRows = 3, kColumns = 11, kLanes = 8, kVectors = 3;
  const Buffer in = MakeBuffer("in", DType::kF32, {kRows, kColumns}),
               out = MakeBuffer("out", DType::kF32, {kRows, kColumns});
  for (const int64_t before : {0, 5}) {
    for (const int64_t size : {kRows * kColumns, int64_t{8192}}) {
      // The larger one does not fit into registers, and lies in the scratch area.
      const Buffer sums = MakeBuffer("sums", DType::kF32, {size}, MemorySpace::kRegister);
      const auto rows = [&](const std::function<Stmt(const Expr& row, const Expr& column)>& statement) {
        const Var r = MakeVar("r"), v = MakeVar("v"), l = MakeVar("l");
        const Expr column = Expr(v) * kLanes + Expr(l) - before;
        const Stmt masked = MakeIf(column < kColumns, MakeIf(Expr(-1) < column, statement(Expr(r), column)));
        return For(r, kRows, kUnroll, For(v, kVectors, kUnroll, For(l, kLanes, kVector, masked)));
      };
      const auto at = [](const Expr& row, const Expr& column) { return row * kColumns + column; };
      const auto sum = [&](const Expr& r, const Expr& c) { return Load(sums, {at(r, c)}); };
      const Var n = MakeVar("n");
      const Stmt body = MakeAllocate(
          sums,
          MakeSequence(
              {rows([&](const Expr& r, const Expr& c) { return MakeStore(sums, {at(r, c)}, FloatConst(1)); }),
               For(n, 4, kSerial, rows([&](const Expr& r, const Expr& c) {
                     return MakeStore(sums, {at(r, c)}, sum(r, c) + Load(in, {r, c}));
                   })),
               rows([&](const Expr& r, const Expr& c) { return MakeStore(out, {r, c}, sum(r, c)); })}));
      ForEachTarget(Nest({{in, kIn}, {out, kOut}}, {body}), [](const TestKernel& kernel) {
        std::vector<float> in_values(kRows * kColumns), got(in_values.size(), -1);
        std::iota(in_values.begin(), in_values.end(), 0.0f);
        ASSERT_EQ(kernel.Run({in_values.data(), got.data()}), 0);
        for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<float>(4 * i + 1)) << i;
      });
    }
  }
}

TEST(Statements, DisjointScratchBuffersShareMemory) {
  const auto scratch = [](const char* name, int64_t n) {
    return MakeBuffer(name, DType::kF32, {n}, MemorySpace::kScratch);
  };
  const Buffer a = scratch("a", 16), b = scratch("b", 40), c = scratch("c", 3),
               out = MakeBuffer("out", DType::kF32, {2});
  const auto fill = [&](const Buffer& buffer, double value, int64_t slot) {
    const Var i = MakeVar("i");
    return MakeSequence(
        {For(i, buffer->num_elements(), kSerial, MakeStore(buffer, {Expr(i)}, FloatConst(value))),
         MakeStore(out, {slot}, Load(buffer, {1}))});
  };
  // c lives around both a and b, which follow each other.
  const Stmt body = MakeAllocate(
      c, MakeSequence({fill(c, 1, 0), MakeAllocate(a, fill(a, 2, 1)), MakeAllocate(b, fill(b, 3, 1)),
                       MakeStore(out, {0}, Load(out, {0}) + Load(c, {2}))}));
  ForEachTarget(Nest({{out, kOut}}, {body}), [](const TestKernel& kernel) {
    EXPECT_EQ(kernel.compiled().scratch_bytes, 64 + 192);
    std::vector<float> got(2);
    ASSERT_EQ(kernel.Run({got.data()}), 0);
    EXPECT_THAT(got, ElementsAre(2, 3));
  });
}

// The second phase reads in reverse what all parts of the first have written.
TEST(Statements, PhasesFollowEachOther) {
  constexpr int64_t kN = 100;
  const Buffer work = MakeBuffer("work", DType::kI32, {kN}), out = MakeBuffer("out", DType::kI32, {kN});
  const Var i = MakeVar("i"), j = MakeVar("j");
  const LoopNest nest =
      Nest({{work, BufferRole::kWorkspace}, {out, kOut}},
           {For(i, kN, kParallel, MakeStore(work, {Expr(i)}, ToI32(Expr(i)))),
            For(j, kN, kSerial, MakeStore(out, {Expr(j)}, Load(work, {Expr(kN - 1) - Expr(j)})))},
           "two");
  ForEachTarget(nest, [](const TestKernel& kernel) {
    ASSERT_EQ(kernel.compiled().phases.size(), 2u);
    EXPECT_EQ(kernel.compiled().phases[0].symbol, "two.0");
    EXPECT_TRUE(kernel.compiled().phases[0].parallel);
    EXPECT_EQ(kernel.compiled().phases[1].symbol, "two.1");
    EXPECT_FALSE(kernel.compiled().phases[1].parallel);
    for (const int parts : {1, 3, 7, 200}) {
      std::vector<int32_t> work_memory(kN, -1), got(kN, -1);
      ASSERT_EQ(kernel.Run({work_memory.data(), got.data()}, parts), 0);
      for (int k = 0; k < kN; ++k) EXPECT_EQ(got[static_cast<size_t>(k)], kN - 1 - k);
    }
  });
}

TEST(Statements, DynamicDimensionsGoToDims) {
  const Buffer in = MakeBuffer("in", DType::kBool, {50}), dims = MakeBuffer("dims", DType::kI64, {1});
  const Var i = MakeVar("i");
  const Stmt count = MakeIf(Load(in, {Expr(i)}), MakeStore(dims, {0}, Load(dims, {0}) + 1));
  LoopNest nest = Nest({{in, kIn}}, {MakeSequence({MakeStore(dims, {0}, 0), For(i, 50, kSerial, count)})});
  nest.dims_buffer = dims;
  ForEachTarget(nest, [](const TestKernel& kernel) {
    std::vector<uint8_t> in_values(50, 0);
    in_values[3] = in_values[17] = in_values[49] = 1;
    int64_t dim = -1;
    ASSERT_EQ(kernel.Run({in_values.data()}, 1, &dim), 0);
    EXPECT_EQ(dim, 3);
  });
}

// b = 2 a, in the memory of a: each element is read before it is written.
TEST(Statements, OutputsMayReplaceInputs) {
  constexpr int64_t kN = 67;
  const Buffer a = MakeBuffer("a", DType::kF32, {kN}), b = MakeBuffer("b", DType::kF32, {kN}),
               c = MakeBuffer("c", DType::kF32, {kN});
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * 16 + Expr(l);
  // The second store reads `a` again, after the first has replaced it: may_alias makes it see the new
  // value.
  const Stmt both = MakeSequence(
      {MakeStore(b, {at}, Load(a, {at}) * FloatConst(2)), MakeStore(c, {at}, Load(a, {at}) + FloatConst(1))});
  const LoopNest nest = Nest({{a, kIn}, {b, kOut}, {c, kOut}},
                             {For(i, CeilDiv(kN, 16), kSerial, For(l, 16, kVector, MakeIf(at < kN, both)))});
  const auto kernel = TestKernel::Make(nest, {.may_alias = {{0, 1}}, .keep_text = false});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::vector<float> memory(kN), got(kN);
  std::iota(memory.begin(), memory.end(), 0.0f);
  ASSERT_EQ(kernel->Run({memory.data(), memory.data(), got.data()}), 0);
  for (size_t k = 0; k < kN; ++k) {
    EXPECT_EQ(memory[k], static_cast<float>(2 * k));
    EXPECT_EQ(got[k], static_cast<float>(2 * k + 1));
  }
}

TEST(Statements, PrefetchAndBoundVariablesChangeNothing) {
  const Buffer a = MakeBuffer("a", DType::kF32, {64}), out = MakeBuffer("out", DType::kF32, {64});
  const Var i = MakeVar("i"), once = MakeVar("once"), l = MakeVar("l");
  const Expr at = Expr(once) * 8 + Expr(l);
  const Stmt body = MakeSequence(
      {MakePrefetch(a, {Expr(i) * 8 + 4096}),
       MakeFor(once, Expr(i), 1, kSerial, For(l, 8, kVector, MakeStore(out, {at}, Load(a, {at}))))});
  ForEachTarget(Nest({{a, kIn}, {out, kOut}}, {For(i, 8, kSerial, body)}), [](const TestKernel& kernel) {
    std::vector<float> in(64), got(64);
    std::iota(in.begin(), in.end(), 0.0f);
    ASSERT_EQ(kernel.Run({in.data(), got.data()}), 0);
    EXPECT_EQ(got, in);
  });
}

std::string ErrorOf(const Stmt& root) {
  const Buffer out = MakeBuffer("out", DType::kI64, {4});
  const auto kernel = CompileKernel(Nest({{out, kOut}}, {root}), *TargetByName("x86-64-v3"));
  return kernel.ok() ? "" : std::string(kernel.status().message());
}

TEST(Statements, WhatCannotBeCompiledIsSaid) {
  const Buffer in = MakeBuffer("in", DType::kI64, {4});
  const Var i = MakeVar("i"), j = MakeVar("j");
  EXPECT_THAT(ErrorOf(MakeStore(in, {0}, 1)), HasSubstr("buffer in is not known"));
  const Buffer local = MakeBuffer("local", DType::kI64, {1}, MemorySpace::kScratch);
  const auto with_local = [&](Stmt body) { return MakeAllocate(local, std::move(body)); };
  const Stmt store = MakeStore(local, {0}, Expr(i));
  EXPECT_EQ(ErrorOf(with_local(For(i, 4, kSerial, store))), "");
  EXPECT_THAT(ErrorOf(with_local(MakeFor(i, 0, Load(local, {0}), kUnroll, store))),
              HasSubstr("constant bounds"));
  EXPECT_THAT(ErrorOf(with_local(For(i, 1000, kVector, store))), HasSubstr("constant extent of at most"));
  EXPECT_THAT(ErrorOf(with_local(For(i, 4, kVector, store))), HasSubstr("different values to one element"));
  EXPECT_THAT(ErrorOf(with_local(For(i, 4, kVector, MakeFor(j, 0, Expr(i), kSerial, store)))),
              HasSubstr("differ between lanes"));
  EXPECT_THAT(ErrorOf(with_local(For(i, 1000, kUnroll, For(j, 1000, kUnroll, store)))), HasSubstr("unrolls"));
  EXPECT_THAT(ErrorOf(with_local(For(i, 4, LoopKind::kBound, store))), HasSubstr("which this target lacks"));
  EXPECT_THAT(ErrorOf(with_local(MakeStore(local, {0}, Expr(j)))), HasSubstr("variable j is not bound"));
}

}  // namespace
}  // namespace attune

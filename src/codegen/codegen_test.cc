#include "codegen/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "codegen/gemm_nest.h"
#include "codegen/run_kernel.h"

namespace attune {
namespace {

// out[i] = a[i] + b[i] in vectors of `lanes`, the last one masked.
LoopNest VectorAdd(int64_t n, int64_t lanes, DType dtype = DType::kF32) {
  const Buffer a = MakeBuffer("a", dtype, {n}), b = MakeBuffer("b", dtype, {n}),
               out = MakeBuffer("out", dtype, {n});
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * lanes + Expr(l);
  Stmt store = MakeStore(out, {at}, Load(a, {at}) + Load(b, {at}));
  Stmt body = MakeIf(at < n, store);
  body = MakeFor(l, 0, lanes, LoopKind::kVectorized, body);
  body = MakeFor(i, 0, CeilDiv(n, lanes), LoopKind::kParallel, body);
  return {
      .name = "add", .params = {{a, kIn}, {b, kIn}, {out, kOut}}, .dims_buffer = nullptr, .roots = {body}};
}

TEST(CompileKernel, AddsVectorsWithMaskedTails) {
  for (const int64_t n : {1, 15, 16, 17, 100, 1000}) {
    for (const int64_t lanes : {1, 4, 7, 16, 32}) {
      const auto kernel = TestKernel::Make(VectorAdd(n, lanes));
      ASSERT_TRUE(kernel.ok()) << kernel.status();
      std::vector<float> a = RandomFloats(n, 1), b = RandomFloats(n, 2),
                         out(static_cast<size_t>(n + 1), 7.0f);
      for (const int parts : {1, 3}) {
        ASSERT_EQ(kernel->Run({a.data(), b.data(), out.data()}, parts), 0);
        for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], a[i] + b[i]) << n << " " << lanes << " " << i;
        EXPECT_EQ(out.back(), 7.0f);
      }
    }
  }
}

TEST(CompileKernel, RefusesAnArchitectureThatItHasNoCodeFor) {
  Target target = *TargetByName("x86-64-v3");
  target.arch = "riscv64";
  const auto kernel = CompileKernel(VectorAdd(16, 16), target);
  EXPECT_EQ(kernel.status().message(), "no code generation for riscv64");
}

TEST(CompileKernel, MasksNeverTouchMemoryOutsideOfABuffer) {
  constexpr int64_t kN = 21;
  const Buffer a = MakeBuffer("a", DType::kF32, {kN}), b = MakeBuffer("b", DType::kU8, {2 * kN}),
               one = MakeBuffer("one", DType::kF32, {CeilDiv(kN, 16)}),
               out = MakeBuffer("out", DType::kF32, {kN});
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * 16 + Expr(l);
  // A contiguous load, a strided load, and a load of one element that is out of bounds in the third
  // iteration, where all lanes are masked off.
  const Expr sum = Load(a, {at}) + CastTo(DType::kF32, Load(b, {at * 2})) + Load(one, {Expr(i)});
  const Stmt body = MakeIf(at < kN, MakeStore(out, {at}, sum));
  const LoopNest nest =
      Nest({{a, kIn}, {b, kIn}, {one, kIn}, {out, kOut}}, {For(i, 3, kSerial, For(l, 16, kVector, body))});
  ForEachTarget(nest, [&](const TestKernel& kernel) {
    const std::vector<float> av = RandomFloats(kN, 3);
    std::vector<uint8_t> bv(2 * kN);
    std::iota(bv.begin(), bv.end(), uint8_t{0});
    Guarded<float> ga(av), gone({10, 20}), gout{std::vector<float>(kN)};
    Guarded<uint8_t> gb(bv);
    ASSERT_EQ(kernel.Run({ga.data(), gb.data(), gone.data(), gout.data()}), 0);
    for (size_t k = 0; k < kN; ++k) {
      EXPECT_EQ(gout.data()[k], av[k] + static_cast<float>(2 * k) + (k < 16 ? 10.0f : 20.0f)) << k;
    }
  });
}

TEST(CompileKernel, ElseBranchesTakeTheOtherLanes) {
  const Buffer a = MakeBuffer("a", DType::kI32, {32}), out = MakeBuffer("out", DType::kI32, {32});
  const Buffer r = MakeBuffer("r", DType::kI32, {16}, MemorySpace::kRegister);
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * 16 + Expr(l), value = Load(a, {at});
  const Expr zero = IntConst(0, DType::kI32);
  // The buffer is in registers, so masks become selects; the conditions are nested, so masks combine.
  const Stmt choose = MakeIf(value < zero, MakeStore(r, {Expr(l)}, -value),
                             MakeIf(MakeOp(MathOp::kEqual, {value, IntConst(5, DType::kI32)}),
                                    MakeStore(r, {Expr(l)}, IntConst(50, DType::kI32))));
  const Stmt body = MakeAllocate(
      r,
      For(l, 16, kVector,
          MakeSequence({MakeStore(r, {Expr(l)}, value), choose, MakeStore(out, {at}, Load(r, {Expr(l)}))})));
  ForEachTarget(Nest({{a, kIn}, {out, kOut}}, {For(i, 2, kSerial, body)}), [&](const TestKernel& kernel) {
    std::vector<int32_t> av(32), got(32);
    std::iota(av.begin(), av.end(), -10);
    ASSERT_EQ(kernel.Run({av.data(), got.data()}), 0);
    for (size_t k = 0; k < 32; ++k) EXPECT_EQ(got[k], av[k] < 0 ? -av[k] : av[k] == 5 ? 50 : av[k]);
  });
}

TEST(CompileKernel, MultipliesMatricesInRegisterTiles) {
  struct Case {
    int64_t m, n, k, rows, vectors, lanes;
  };
  for (const Case& c : {Case{13, 128, 37, 6, 4, 16}, Case{4, 48, 5, 4, 3, 16}, Case{7, 16, 9, 3, 2, 8},
                        Case{5, 21, 8, 2, 3, 7}}) {
    ForEachTarget(GemmNest(c.m, c.n, c.k, c.rows, c.vectors, c.lanes), [&](const TestKernel& kernel) {
      std::vector<float> a = RandomFloats(c.m * c.k, 1), b = RandomFloats(c.k * c.n, 2),
                         out(static_cast<size_t>(c.m * c.n), -1);
      ASSERT_EQ(kernel.Run({a.data(), b.data(), out.data()}, 2), 0);
      const int64_t width = c.vectors * c.lanes;
      for (int64_t i = 0; i < c.m; ++i) {
        for (int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < c.k; ++p) {
            sum += static_cast<double>(a[static_cast<size_t>(i * c.k + p)]) *
                   b[static_cast<size_t>((j / width * c.k + p) * width + j % width)];
          }
          ASSERT_NEAR(out[static_cast<size_t>(i * c.n + j)], sum, 1e-5) << i << " " << j;
        }
      }
    });
  }
}

// out[0] = op over a, in vectors with a masked tail.
TEST(CompileKernel, ReducesAcrossLanes) {
  constexpr int64_t kN = 37;
  const Buffer a = MakeBuffer("a", DType::kF32, {kN}), f = MakeBuffer("f", DType::kF32, {4});
  const Buffer b = MakeBuffer("b", DType::kI32, {kN}), g = MakeBuffer("g", DType::kI32, {2});
  const Var i = MakeVar("i"), l = MakeVar("l");
  for (const int64_t lanes : {16, 8, 7}) {
    const Expr at = Expr(i) * lanes + Expr(l);
    const auto reduce = [&](const Buffer& out, int64_t slot, MathOp op, const Expr& x) {
      return MakeStore(out, {slot}, MakeOp(op, {Load(out, {slot}), x}));
    };
    const Expr x = Load(a, {at}), n = Load(b, {at});
    const Stmt update =
        MakeSequence({reduce(f, 0, MathOp::kAdd, x), reduce(f, 1, MathOp::kMin, x),
                      reduce(f, 2, MathOp::kMax, x), reduce(f, 3, MathOp::kMul, x * x + FloatConst(1)),
                      reduce(g, 0, MathOp::kAnd, n), reduce(g, 1, MathOp::kOr, n)});
    const Stmt body = For(i, CeilDiv(kN, lanes), kSerial, For(l, lanes, kVector, MakeIf(at < kN, update)));
    ForEachTarget(Nest({{a, kIn}, {b, kIn}, {f, kOut}, {g, kOut}}, {body}), [&](const TestKernel& kernel) {
      std::vector<float> av = RandomFloats(kN, 5), fv = {1, 100, -100, 1};
      std::vector<int32_t> bv(kN, 0x7FF0), gv = {-1, 0};
      bv[3] = 0x70F1, bv[36] = 0x12340;
      ASSERT_EQ(kernel.Run({av.data(), bv.data(), fv.data(), gv.data()}), 0);
      double product = 1;
      for (const float v : av) product *= static_cast<double>(v) * v + 1;
      EXPECT_NEAR(fv[0], 1 + std::accumulate(av.begin(), av.end(), 0.0), 1e-5);
      EXPECT_EQ(fv[1], *std::min_element(av.begin(), av.end()));
      EXPECT_EQ(fv[2], *std::max_element(av.begin(), av.end()));
      EXPECT_NEAR(fv[3], product, 1e-5 * product);
      EXPECT_EQ(gv, (std::vector<int32_t>{0x7FF0 & 0x70F1 & 0x12340, 0x7FF0 | 0x70F1 | 0x12340}));
    });
  }
}

TEST(CompileKernel, GathersAndScatters) {
  const Buffer table = MakeBuffer("table", DType::kF32, {10, 3}),
               index = MakeBuffer("index", DType::kI64, {24}), out = MakeBuffer("out", DType::kF32, {24, 2}),
               back = MakeBuffer("back", DType::kI8, {24});
  const Var i = MakeVar("i"), l = MakeVar("l");
  const Expr at = Expr(i) * 8 + Expr(l), from = Load(index, {at});
  // Gathers from table rows given by a loaded index and stores to every other element; scatters bytes to
  // the loaded index.
  const Stmt body = MakeSequence({MakeStore(out, {at, IntConst(1)}, Load(table, {from, FloorMod(at, 3)})),
                                  MakeIf(at < 20, MakeStore(back, {from + 12}, CastTo(DType::kI8, at)))});
  ForEachTarget(Nest({{table, kIn}, {index, kIn}, {out, kOut}, {back, kOut}},
                     {For(i, 3, kSerial, For(l, 8, kVector, body))}),
                [&](const TestKernel& kernel) {
                  const std::vector<float> tv = RandomFloats(30, 9);
                  std::vector<int64_t> iv(24);
                  for (size_t k = 0; k < 24; ++k) iv[k] = static_cast<int64_t>(k * 7 % 10);
                  Guarded<float> gt(tv);
                  std::vector<float> got(48, -1);
                  std::vector<int8_t> bytes(24, -1), want(24, -1);
                  ASSERT_EQ(kernel.Run({gt.data(), iv.data(), got.data(), bytes.data()}), 0);
                  for (size_t k = 0; k < 24; ++k) {
                    EXPECT_EQ(got[2 * k], -1);
                    EXPECT_EQ(got[2 * k + 1], tv[static_cast<size_t>(iv[k]) * 3 + k % 3]);
                    if (k < 20) want[static_cast<size_t>(iv[k] + 12)] = static_cast<int8_t>(k);
                  }
                  EXPECT_EQ(bytes, want);
                });
}

TEST(CompileKernel, StridesOfEverySignAndSize) {
  for (const int64_t stride : {-3, -2, -1, 2, 3, 4, 5}) {
    const int64_t n = 16 * std::abs(stride);
    const Buffer a = MakeBuffer("a", DType::kF32, {n}), out = MakeBuffer("out", DType::kF32, {n});
    const Var l = MakeVar("l");
    const Expr at = Expr(l) * stride + (stride < 0 ? n - 1 : 0);
    const Stmt body = For(l, 16, kVector, MakeStore(out, {at}, Load(a, {at}) * FloatConst(2)));
    ForEachTarget(Nest({{a, kIn}, {out, kOut}}, {body}), [&](const TestKernel& kernel) {
      const std::vector<float> av = RandomFloats(n, 4);
      Guarded<float> ga(av);
      std::vector<float> got(static_cast<size_t>(n), 0);
      ASSERT_EQ(kernel.Run({ga.data(), got.data()}), 0);
      for (int64_t k = 0; k < n; ++k) {
        const bool hit = (stride > 0 ? k : n - 1 - k) % std::abs(stride) == 0;
        EXPECT_EQ(got[static_cast<size_t>(k)], hit ? 2 * av[static_cast<size_t>(k)] : 0)
            << stride << " " << k;
      }
    });
  }
}

// Vectors that start at a constant, at a variable, and at a variable together with a lookup.
TEST(CompileKernel, VectorLoopsMayStartAnywhere) {
  const Buffer a = MakeBuffer("a", DType::kF32, {64}), table = MakeBuffer("table", DType::kI64, {64}),
               out = MakeBuffer("out", DType::kF32, {3, 32});
  const Var i = MakeVar("i"), l = MakeVar("l"), m = MakeVar("m"), n = MakeVar("n");
  const auto store = [&](int64_t row, const Expr& at, const Expr& from) {
    return MakeStore(out, {row, at}, Load(a, {from}));
  };
  const Stmt body = MakeSequence(
      {MakeFor(l, 5, 8, kVector, store(0, l, Expr(l) + 3)),
       For(i, 2, kSerial, MakeFor(m, Expr(i) * 8 + 8, 8, kVector, store(1, m, Expr(m) * 2 + 1))),
       For(i, 2, kSerial,
           MakeFor(n, Expr(i) * 8 + 8, 8, kVector, store(2, n, Expr(n) + Load(table, {Expr(n)}))))});
  ForEachTarget(Nest({{a, kIn}, {table, kIn}, {out, kOut}}, {body}), [](const TestKernel& kernel) {
    std::vector<float> from(64), got(96, -1), want(96, -1);
    std::vector<int64_t> lookup(64);
    std::iota(from.begin(), from.end(), 0.0f);
    for (size_t k = 0; k < 64; ++k) lookup[k] = static_cast<int64_t>(k * 11 % 17);
    for (size_t k = 5; k < 13; ++k) want[k] = static_cast<float>(k + 3);
    for (size_t k = 8; k < 24; ++k) want[32 + k] = static_cast<float>(2 * k + 1);
    for (size_t k = 8; k < 24; ++k) want[64 + k] = static_cast<float>(k + k * 11 % 17);
    ASSERT_EQ(kernel.Run({from.data(), lookup.data(), got.data()}), 0);
    EXPECT_EQ(got, want);
  });
}

}  // namespace
}  // namespace attune

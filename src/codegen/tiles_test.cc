// Checks in the assembly of znver4 that register tiles stay in registers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codegen/gemm_nest.h"
#include "codegen/run_kernel.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string AssemblyOf(const LoopNest& nest) {
  const auto kernel = CompileKernel(nest, *TargetByName("znver4"), {.may_alias = {}, .keep_text = true});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (!kernel.ok()) return "";
  EXPECT_THAT(kernel->llvm_ir, Not(HasSubstr("alloca")));
  return kernel->assembly;
}

TEST(RegisterTiles, ProductsKeepTheirAccumulators) {
  const std::string assembly = AssemblyOf(GemmNest(12, 128, 64, 6, 4, 16));
  EXPECT_THAT(assembly, Not(HasSubstr("(%rsp)")));
  EXPECT_THAT(assembly, HasSubstr("vfmadd231ps"));
  EXPECT_THAT(assembly, HasSubstr("vbroadcastss"));
}

// out[x, v, lane] = sum of in[c, x + k] · weight[c, k, v, lane] over channels c and taps k, for a tile of
// `width` pixels and `vectors` vectors.
LoopNest Convolution(int64_t channels, int64_t taps, int64_t width, int64_t vectors) {
  const Buffer in = MakeBuffer("in", DType::kF32, {channels, width + taps - 1});
  const Buffer weight = MakeBuffer("weight", DType::kF32, {channels, taps, vectors, 16});
  const Buffer out = MakeBuffer("out", DType::kF32, {width, vectors, 16});
  const Buffer acc = MakeBuffer("acc", DType::kF32, {width, vectors, 16}, MemorySpace::kRegister);
  const Var c = MakeVar("c"), k = MakeVar("k");
  const auto tile = [&](auto store) {
    const Var x = MakeVar("x"), v = MakeVar("v"), l = MakeVar("l");
    const std::vector<Expr> at = {Expr(x), Expr(v), Expr(l)};
    return For(x, width, kUnroll, For(v, vectors, kUnroll, For(l, 16, kVector, store(at))));
  };
  using Indices = const std::vector<Expr>&;
  const Stmt zero = tile([&](Indices at) { return MakeStore(acc, at, FloatConst(0)); });
  const Stmt update = tile([&](Indices at) {
    const Expr product = Load(in, {c, at[0] + Expr(k)}) * Load(weight, {c, k, at[1], at[2]});
    return MakeStore(acc, at, Load(acc, at) + product);
  });
  const Stmt sum = For(c, channels, kSerial, For(k, taps, kUnroll, update));
  const Stmt write = tile([&](Indices at) { return MakeStore(out, at, Load(acc, at)); });
  return Nest({{in, kIn}, {weight, kIn}, {out, kOut}}, {MakeAllocate(acc, MakeSequence({zero, sum, write}))});
}

// Three taps share nearly all inputs of the tile. Held in registers over the taps, these would not fit.
TEST(RegisterTiles, ConvolutionsReadSharedInputsAgain) {
  constexpr int64_t kChannels = 5, kTaps = 3;
  for (const int64_t vectors : {1, 2, 4}) {
    const int64_t width = 24 / vectors;
    const LoopNest nest = Convolution(kChannels, kTaps, width, vectors);
    const std::string assembly = AssemblyOf(nest);
    EXPECT_THAT(assembly, Not(HasSubstr("(%rsp)")));
    EXPECT_EQ(vectors == 1, assembly.find("{1to16}") != std::string::npos);
    ForEachTarget(nest, [&](const TestKernel& kernel) {
      std::vector<float> in(static_cast<size_t>(kChannels * (width + kTaps - 1))),
          weight(static_cast<size_t>(kChannels * kTaps * vectors * 16)),
          out(static_cast<size_t>(width * vectors * 16));
      for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7) - 3;
      for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 11) - 5;
      ASSERT_EQ(kernel.Run({in.data(), weight.data(), out.data()}), 0);
      for (int64_t x = 0; x < width; ++x) {
        for (int64_t v = 0; v < vectors * 16; ++v) {
          float want = 0;
          for (int64_t c = 0; c < kChannels; ++c) {
            for (int64_t k = 0; k < kTaps; ++k) {
              want += in[static_cast<size_t>(c * (width + kTaps - 1) + x + k)] *
                      weight[static_cast<size_t>((c * kTaps + k) * vectors * 16 + v)];
            }
          }
          ASSERT_EQ(out[static_cast<size_t>(x * vectors * 16 + v)], want) << x << " " << v;
        }
      }
    });
  }
}

}  // namespace
}  // namespace attune

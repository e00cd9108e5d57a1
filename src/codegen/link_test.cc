#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "codegen/gemm_nest.h"
#include "codegen/run_kernel.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// out[0] = factor · in[0] through a function of its own and a constant of its own.
LoopNest Scale(const std::string& name, double factor) {
  const Buffer in = MakeBuffer("in", DType::kF32, {16}), out = MakeBuffer("out", DType::kF32, {16});
  const Var l = MakeVar("l");
  const Expr x = MakeOp(MathOp::kSin, {Load(in, {Expr(l)})});
  return Nest({{in, kIn}, {out, kOut}},
              {For(l, 16, kVector, MakeStore(out, {Expr(l)}, x * FloatConst(factor)))}, name);
}

TEST(Link, JoinsKernelsThatShareLocalNames) {
  const Target target = *HostTarget();
  std::vector<CompiledKernel> kernels;
  std::vector<const std::string*> objects;
  for (int i = 0; i < 5; ++i) kernels.push_back(*CompileKernel(Scale(absl::StrCat("k", i), i + 0.5), target));
  for (const CompiledKernel& kernel : kernels) objects.push_back(&kernel.object);
  const auto code = Link(objects);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(code->symbols.size(), 5u);
  EXPECT_EQ(code->bytes.size() % 4096, 0u);
  const auto host = HostCode::Map(*code);
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_EQ(host->Find("k9.0"), nullptr);
  for (int i = 0; i < 5; ++i) {
    const PhaseFunction function = host->Find(absl::StrCat("k", i, ".0"));
    ASSERT_NE(function, nullptr);
    alignas(64) float in[16] = {1}, out[16];
    void* buffers[] = {in, out};
    ASSERT_EQ(function(buffers, nullptr, nullptr, 0, 1), 0);
    EXPECT_FLOAT_EQ(out[0], static_cast<float>(std::sin(1.0) * (i + 0.5)));
  }
}

TEST(Link, RefusesTheSameNameTwiceAndGarbage) {
  const CompiledKernel kernel = *CompileKernel(Scale("k", 2), *HostTarget());
  const auto twice = Link({&kernel.object, &kernel.object});
  EXPECT_THAT(std::string(twice.status().message()), HasSubstr("duplicate symbol"));
  const std::string garbage = "not an object";
  EXPECT_FALSE(Link({&garbage}).ok());
  // A failure leaves the linker usable.
  EXPECT_TRUE(Link({&kernel.object}).ok());
  EXPECT_TRUE(Link({})->bytes.empty());
}

TEST(CompileKernel, SameInputsGiveTheSameBytes) {
  const LoopNest nest = GemmNest(13, 128, 37, 6, 4, 16);
  for (const char* name : {"znver4", "x86-64-v3", "skylake-avx512"}) {
    const Target target = *TargetByName(name);
    const auto first = CompileKernel(nest, target),
               second = CompileKernel(GemmNest(13, 128, 37, 6, 4, 16), target);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ(first->object, second->object);
    EXPECT_EQ(Link({&first->object})->bytes, Link({&second->object})->bytes);
  }
}

TEST(CompileKernel, WorksFromSeveralThreads) {
  const LoopNest nest = GemmNest(13, 128, 37, 6, 4, 16);
  const Target target = *HostTarget();
  const CompiledKernel expected = *CompileKernel(nest, target);
  std::vector<std::thread> threads;
  std::vector<std::string> blobs(3);
  for (std::string& blob : blobs) {
    threads.emplace_back([&] {
      const CompiledKernel kernel = *CompileKernel(nest, target);
      EXPECT_EQ(kernel.object, expected.object);
      blob = Link({&kernel.object})->bytes;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(blobs[0], blobs[1]);
  EXPECT_EQ(blobs[0], blobs[2]);
}

// The tile must live in registers: its accumulators are neither loaded nor stored while k runs.
TEST(CompileKernel, KeepsRegisterTilesInRegisters) {
  const auto kernel = CompileKernel(GemmNest(12, 128, 64, 6, 4, 16), *TargetByName("znver4"),
                                    {.may_alias = {}, .keep_text = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_THAT(kernel->llvm_ir, ::testing::Not(HasSubstr("alloca")));
  EXPECT_THAT(kernel->assembly, ::testing::Not(HasSubstr("Spill")));
  EXPECT_THAT(kernel->assembly, HasSubstr("vfmadd231ps"));
  EXPECT_THAT(kernel->assembly, HasSubstr("vbroadcastss"));
}

}  // namespace
}  // namespace attune

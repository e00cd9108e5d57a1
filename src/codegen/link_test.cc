#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "base/testing/no_threads.h"
#include "codegen/gemm_nest.h"
#include "codegen/run_kernel.h"
#include "codegen/target_emitter.h"
#include "device/host.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

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

// The object of a module in LLVM's text form.
std::string ObjectOf(const char* text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, diagnostic, context);
  EXPECT_NE(module, nullptr) << diagnostic.getMessage().str();
  const Target target = *HostTarget();
  const auto machine = MakeMachine(target, **MakeTargetEmitter(target));
  module->setDataLayout((*machine)->createDataLayout());
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  (*machine)->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile);
  passes.run(*module);
  return std::string(buffer.begin(), buffer.end());
}

TEST(Link, RefusesWhatNeedsALoader) {
  const std::pair<const char*, const char*> cases[] = {
      {"declare void @f()  define void @k() nounwind { call void @f() ret void }", "undefined symbol: f"},
      {"@g = internal global i32 1  define ptr @k() nounwind { store volatile i32 2, ptr @g ret ptr @g }",
       "writable data (.data)"},
      {"@g = internal global i32 0  define ptr @k() nounwind { store volatile i32 2, ptr @g ret ptr @g }",
       "writable data (.bss)"},
      {"@g = internal constant ptr @k  define ptr @k() nounwind { %p = load volatile ptr, ptr @g ret ptr %p "
       "}",
       "a relocation at load time"},
      {"@g = internal thread_local global i32 1  define ptr @k() nounwind { ret ptr @g }", ""},
  };
  for (const auto& [text, message] : cases) {
    const std::string object = ObjectOf(text);
    const auto code = Link({&object});
    EXPECT_FALSE(code.ok()) << text;
    EXPECT_THAT(std::string(code.status().message()), HasSubstr(message));
  }
}

// More than a pipe holds.
TEST(Link, GivesAllOfALargeObject) {
  constexpr size_t kBytes = 1 << 20;
  const std::string content(kBytes, 'a');
  const std::string object =
      ObjectOf(absl::StrCat("@g = internal constant [", kBytes, " x i8] c\"", content,
                            "\"  define i8 @k(i64 %i) nounwind { %p = getelementptr i8, ptr @g, i64 %i "
                            " %x = load i8, ptr %p  ret i8 %x }")
                   .c_str());
  const auto code = Link({&object});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_NE(code->bytes.find(content), std::string::npos);
}

TEST(Link, WithoutAThreadIsRefused) {
  const CompiledKernel kernel = *CompileKernel(Scale("k", 2), *HostTarget());
  const testing::NoThreads none;
  EXPECT_THAT(std::string(Link({&kernel.object}).status().message()), HasSubstr("no thread to link with"));
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

// A measurement, not a test: run with --gtest_also_run_disabled_tests --gtest_filter='*Gemm*'.
TEST(Benchmark, DISABLED_Gemm) {
  constexpr int64_t kM = 128, kN = 768, kK = 768;
  std::vector<float> a(kM * kK, 1.0f), b(kK * kN, 1.0f), c(kM * kN);
  const std::pair<int64_t, int64_t> tiles[] = {{6, 4}, {8, 3}, {12, 2}, {24, 1}};
  for (const auto& [rows, vectors] : tiles) {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::time_point since) {
      return std::chrono::duration<double>(Clock::now() - since).count();
    };
    const Clock::time_point start = Clock::now();
    const auto kernel = TestKernel::Make(GemmNest(kM, kN, kK, rows, vectors, 16));
    const double build = seconds(start);
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    double best = 0;
    for (int run = 0; run < 50; ++run) {
      const Clock::time_point begin = Clock::now();
      kernel->Run({a.data(), b.data(), c.data()});
      best = std::max(best, 2e-9 * kM * kN * kK / seconds(begin));
    }
    std::printf("tile %ld x %ld: %.1f GFLOP/s, built in %.1f ms\n", rows, vectors * 16, best, build * 1e3);
  }
}

}  // namespace
}  // namespace attune

#include "codegen/codegen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "codegen/run_kernel.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

constexpr BufferRole kIn = BufferRole::kInput, kOut = BufferRole::kOutput;

std::vector<float> RandomFloats(int64_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = static_cast<float>(random.Uniform() * 2 - 1);
  return v;
}

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

}  // namespace
}  // namespace attune

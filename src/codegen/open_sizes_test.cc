// Kernels of open extents: compiled once, and called with many sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "codegen/run_kernel.h"
#include "tensor/schedule.h"
#include "tensor/testing/definitions.h"

namespace attune {
namespace {

constexpr int64_t kMost = 1 << 16;

// A size that kernels are given with each call.
struct OpenSize {
  explicit OpenSize(std::string name) : param{MakeVar(std::move(name)), 1, kMost} {}
  Extent extent() const { return {Expr(param.var), param.max}; }
  SizeParam param;
};

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

// Calls `check` with the kernel of each trace, compiled for each width of vectors. The text form of its nest
// is read back before.
void ForEachSchedule(const std::function<ComputeDef()>& define,
                     const std::vector<std::vector<Primitive>>& traces,
                     const std::function<void(const TestKernel&)>& check) {
  for (const std::vector<Primitive>& trace : traces) {
    SCOPED_TRACE(ToJson(trace));
    const auto schedule = Schedule::Replay(define(), trace);
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    const auto nest = schedule->Lower();
    ASSERT_TRUE(nest.ok()) << nest.status();
    ASSERT_TRUE(VerifyLoopNest(*nest).ok()) << VerifyLoopNest(*nest);
    const auto parsed = ParseLoopNest(Print(*nest));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(Print(*parsed), Print(*nest));
    ForEachTarget(*parsed, check);
  }
}

const std::vector<int64_t> kSizes = {1, 2, 5, 15, 16, 17, 33, 64, 100};
constexpr auto kScratch = static_cast<int64_t>(MemorySpace::kScratch),
               kRegister = static_cast<int64_t>(MemorySpace::kRegister);

TEST(OpenSizes, ProductOfOpenRowsColumnsAndTerms) {
  const OpenSize m("m"), n("n"), k("k");
  const auto define = [&] {
    ComputeDef def = MatMulRelu(m.extent(), n.extent(), k.extent());
    def.sizes = {m.param, n.param, k.param};
    return def;
  };
  const std::vector<std::vector<Primitive>> traces = {
      {},
      {{"fuse", {"out.i", "out.j", "out.ij"}}, {"parallel", {"out.ij"}}},
      {{"split", {"out.j"}, {16}},
       {"vectorize", {"out.j.i"}},
       {"fuse", {"out.i", "out.j.o", "out.t"}},
       {"parallel", {"out.t"}},
       {"compute_at", {"c", "out.t"}, {kRegister}},
       {"reorder", {"c.k", "c.i", "c.j"}},
       {"vectorize", {"c.j"}}},
      {{"split", {"out.i"}, {4}},
       {"split", {"out.j"}, {8}},
       {"reorder", {"out.i.o", "out.j.o", "out.i.i", "out.j.i"}},
       {"unroll", {"out.i.i"}},
       {"vectorize", {"out.j.i"}},
       {"compute_at", {"c", "out.j.o"}, {kScratch}}},
      {{"split", {"out.i"}, {6}},
       {"split", {"out.j"}, {8}},
       {"reorder", {"out.j.o", "out.i.o", "out.i.i", "out.j.i"}},
       {"unroll", {"out.i.i"}},
       {"vectorize", {"out.j.i"}},
       {"peel", {"out.i.o"}, {0, 1}},
       {"parallel", {"out.j.o"}},
       {"compute_at", {"c", "out.i.o"}, {kRegister}},
       {"reorder", {"c.k", "c.i", "c.j"}},
       {"unroll", {"c.i"}},
       {"vectorize", {"c.j"}}},
      {{"pack", {"b", "c"}, {1, 1, 16, 1, 0, 2}}, {"split", {"c.k"}, {4}}, {"unroll", {"c.k.i"}}},
  };
  ForEachSchedule(define, traces, [&](const TestKernel& kernel) {
    for (size_t i = 0; i < kSizes.size(); ++i) {
      std::vector<int64_t> sizes = {kSizes[i], kSizes[(i * 5 + 3) % kSizes.size()],
                                    kSizes[(i * 7 + 1) % kSizes.size()]};
      const int64_t rows = sizes[0], columns = sizes[1], terms = sizes[2];
      std::vector<float> a = RandomFloats(rows * terms, 1), b = RandomFloats(terms * columns, 2),
                         out(static_cast<size_t>(rows * columns)), expected(out.size());
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          float sum = 0;
          for (int64_t t = 0; t < terms; ++t)
            sum += a[static_cast<size_t>(r * terms + t)] * b[static_cast<size_t>(t * columns + c)];
          expected[static_cast<size_t>(r * columns + c)] = std::max(sum, 0.0f);
        }
      }
      std::vector<float> product(out.size());  // a workspace, where c is one
      std::vector<float> packed(static_cast<size_t>(terms * (columns + 15)) + 16);
      std::vector<void*> buffers = {a.data(), b.data(), out.data(), product.data(), product.data()};
      SCOPED_TRACE(::testing::Message() << rows << " x " << columns << " x " << terms);
      // The packed copy comes before the product among the workspaces.
      if (kernel.compiled().phases.size() == 3) buffers[3] = packed.data();
      ASSERT_EQ(kernel.Run(buffers, 3, sizes.data()), 0);
      ExpectNear(out, expected);
    }
  });
}

TEST(OpenSizes, SoftmaxOfOpenRowsInOpenScratch) {
  const OpenSize rows("rows"), columns("columns");
  const auto define = [&] {
    ComputeDef def = Softmax(rows.extent(), columns.extent());
    def.sizes = {rows.param, columns.param};
    return def;
  };
  const std::vector<std::vector<Primitive>> traces = {
      {{"compute_at", {"sum", "out.i"}, {kRegister}},
       {"compute_at", {"exp", "out.i"}, {kScratch}},
       {"compute_at", {"top", "out.i"}, {kRegister}},
       {"parallel", {"out.i"}}},
      {{"split", {"out.j"}, {16}},
       {"vectorize", {"out.j.i"}},
       {"compute_at", {"sum", "out.i"}, {kRegister}},
       {"split", {"sum.j"}, {16}},
       {"vectorize", {"sum.j.i"}},
       {"compute_at", {"exp", "out.i"}, {kScratch}},
       {"split", {"exp.j"}, {16}},
       {"vectorize", {"exp.j.i"}},
       {"compute_at", {"top", "out.i"}, {kRegister}},
       {"parallel", {"out.i"}}},
  };
  ForEachSchedule(define, traces, [&](const TestKernel& kernel) {
    for (size_t i = 0; i < kSizes.size(); ++i) {
      std::vector<int64_t> sizes = {kSizes[i], kSizes[(i * 5 + 3) % kSizes.size()]};
      std::vector<float> x = RandomFloats(sizes[0] * sizes[1], 3), out(x.size()), expected(x.size());
      const auto width = static_cast<size_t>(sizes[1]);
      for (size_t row = 0; row < x.size(); row += width) {
        float sum = 0;
        for (size_t j = row; j < row + width; ++j) sum += expected[j] = std::exp(x[j]);
        for (size_t j = row; j < row + width; ++j) expected[j] /= sum;
      }
      ASSERT_EQ(kernel.Run({x.data(), out.data()}, 2, sizes.data()), 0);
      ExpectNear(out, expected);
    }
  });
}

TEST(OpenSizes, LoopsThatBecomeCodeForEachIterationAreNotOpen) {
  const OpenSize m("m");
  ComputeDef def = MatMulRelu(m.extent(), 16, 16);
  def.sizes = {m.param};
  Schedule schedule(std::move(def));
  EXPECT_EQ(schedule.Apply({"unroll", {"out.i"}}).message(), "unroll: the extent of loop 'out.i' is open");
}

}  // namespace
}  // namespace attune

// Matrix loops on tiles: of the processor's unit where it has one, and of the software model on every
// machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "codegen/run_kernel.h"
#include "device/host.h"
#include "target/features.h"
#include "target/products.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// c[m, n] = Σ a[m, k] b[k, n] of `tiles_m` × `tiles_n` tiles at a time, b packed as [n / 16, k / terms, 16,
// terms].
struct Product {
  ProductInstruction instruction;
  int64_t rows = kTileRows, groups = kTileColumns, steps = 3, tiles_m = 2, tiles_n = 2, blocks = 2;

  int64_t m() const { return rows * tiles_m * blocks; }
  int64_t n() const { return kTileColumns * tiles_n; }
  int64_t k() const { return steps * groups * instruction.terms; }
};

LoopNest NestOf(const Product& p) {
  const int64_t terms = p.instruction.terms, columns = kTileColumns;
  const Buffer a = MakeBuffer("a", p.instruction.left, {p.m(), p.k()});
  const Buffer b = MakeBuffer("b", p.instruction.right, {p.tiles_n, p.k() / terms, columns, terms});
  const Buffer c = MakeBuffer("c", p.instruction.sum, {p.m(), p.n()});
  const Buffer acc =
      MakeBuffer("acc", p.instruction.sum, {p.rows * p.tiles_m, p.n()}, MemorySpace::kRegister);
  const Var block = MakeVar("block"), step = MakeVar("step");
  // Runs body(row, column, around) for every tile.
  const auto tiles = [&](auto body) {
    const Var i = MakeVar("i"), j = MakeVar("j"), r = MakeVar("r"), v = MakeVar("v");
    const Expr row = Expr(i) * p.rows + Expr(r), column = Expr(j) * columns + Expr(v);
    return For(i, p.tiles_m, kUnroll,
               For(j, p.tiles_n, kUnroll, For(r, p.rows, LoopKind::kMatrix, body(row, j, v, column))));
  };
  const Stmt zero = tiles([&](const Expr& row, const Var&, const Var& v, const Expr& column) {
    return For(v, columns, kVector, MakeStore(acc, {row, column}, ConstOf(p.instruction.sum, 0)));
  });
  const Stmt update = tiles([&](const Expr& row, const Var& j, const Var& v, const Expr& column) {
    const Var g = MakeVar("g"), t = MakeVar("t");
    const Expr group = Expr(step) * p.groups + Expr(g);
    const Expr x = CastTo(p.instruction.sum,
                          Load(a, {Expr(block) * (p.rows * p.tiles_m) + row, group * terms + Expr(t)}));
    const Expr y = CastTo(p.instruction.sum, Load(b, {Expr(j), group, Expr(v), Expr(t)}));
    const Stmt store = MakeStore(acc, {row, column}, Load(acc, {row, column}) + x * y);
    return For(g, p.groups, kUnroll, For(v, columns, kVector, For(t, terms, LoopKind::kDot, store)));
  });
  const Stmt write = tiles([&](const Expr& row, const Var&, const Var& v, const Expr& column) {
    return For(v, columns, kVector,
               MakeStore(c, {Expr(block) * (p.rows * p.tiles_m) + row, column}, Load(acc, {row, column})));
  });
  const Stmt body = MakeAllocate(acc, MakeSequence({zero, For(step, p.steps, kSerial, update), write}));
  return Nest({{a, kIn}, {b, kIn}, {c, kOut}}, {For(block, p.blocks, kParallel, body)});
}

std::vector<Product> Products() {
  std::vector<Product> products;
  for (const ProductInstruction& instruction : kMatrixInstructions) {
    products.push_back({instruction});
    products.push_back({.instruction = instruction, .rows = 7, .groups = 5, .tiles_m = 1, .tiles_n = 4});
    products.push_back({.instruction = instruction, .rows = 15, .groups = 1, .tiles_m = 3, .tiles_n = 2});
  }
  return products;
}

// Bytes with the extremes among them, or bits of small bf16 numbers.
template <typename T>
std::vector<T> RandomOf(DType dtype, int64_t count) {
  std::minstd_rand random(7);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) {
    const auto bits = random();
    value = dtype == DType::kBF16 ? static_cast<T>((bits & 1) << 15 | 0x3F00 | (bits >> 8 & 0xFF))
            : bits % 5 == 0       ? static_cast<T>(bits & 64 ? 0x80 : 0x7F)
                                  : static_cast<T>(bits >> 3);
  }
  return values;
}

double ValueOf(DType dtype, uint16_t bits) {
  if (dtype == DType::kI8) return static_cast<int8_t>(bits);
  if (dtype == DType::kU8) return static_cast<uint8_t>(bits);
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

template <typename T>
void RunAndCheck(const Product& p, const Target& target) {
  const auto kernel = TestKernel::Make(NestOf(p), target, {.may_alias = {}, .keep_text = true});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::vector<T> a = RandomOf<T>(p.instruction.left, p.m() * p.k());
  std::vector<T> b = RandomOf<T>(p.instruction.right, p.n() * p.k());
  std::vector<int32_t> c(static_cast<size_t>(p.m() * p.n()));
  Guarded<T> guarded_a(a), guarded_b(b);
  Guarded<int32_t> guarded_c(c);
  ASSERT_EQ(kernel->Run({guarded_a.data(), guarded_b.data(), guarded_c.data()}, 2), 0);
  const int64_t terms = p.instruction.terms;
  for (int64_t m = 0; m < p.m(); ++m) {
    for (int64_t n = 0; n < p.n(); ++n) {
      double want = 0, magnitude = 0;
      for (int64_t k = 0; k < p.k(); ++k) {
        const int64_t packed = (((n / 16) * (p.k() / terms) + k / terms) * 16 + n % 16) * terms + k % terms;
        const double product =
            ValueOf(p.instruction.left, static_cast<uint16_t>(a[static_cast<size_t>(m * p.k() + k)])) *
            ValueOf(p.instruction.right, static_cast<uint16_t>(b[static_cast<size_t>(packed)]));
        want += product;
        magnitude += std::abs(product);
      }
      const int32_t bits = guarded_c.data()[m * p.n() + n];
      float as_float;
      std::memcpy(&as_float, &bits, sizeof(bits));
      const bool is_float = p.instruction.sum == DType::kF32;
      ASSERT_NEAR(is_float ? as_float : bits, want, is_float ? 1e-5 * magnitude : 0) << m << ", " << n;
    }
  }
}

void Check(const Product& p, const Target& target) {
  SCOPED_TRACE(absl::StrCat(target.name, " ", DTypeName(p.instruction.left), " ",
                            DTypeName(p.instruction.right), " rows ", p.rows));
  p.instruction.left == DType::kBF16 ? RunAndCheck<uint16_t>(p, target) : RunAndCheck<uint8_t>(p, target);
}

TEST(Matrix, TheModelMultipliesOnAnyMachine) {
  const auto host = HostTarget();
  ASSERT_TRUE(host.ok());
  Target without = *host;
  std::erase_if(without.required_features,
                [](const std::string& f) { return HasAll(kTiles, FeatureNamed(f)); });
  for (const Product& p : Products()) {
    Check(p, WithModelledTiles(without));
    Check(p, WithModelledTiles(*TargetByName("x86-64-v3")));
  }
}

TEST(Matrix, TheProcessorMultiplies) {
  const auto host = HostTarget();
  ASSERT_TRUE(host.ok());
  if (!HasProducts(kMatrixInstructions, *host)) GTEST_SKIP() << "no AMX here";
  for (const Product& p : Products()) Check(p, *host);
}

// Without a matrix unit, rows are unrolled and columns are lanes.
TEST(Matrix, VectorsMultiplyWhereThereAreNoTiles) {
  for (const ProductInstruction& instruction : kMatrixInstructions) {
    Check({.instruction = instruction, .rows = 3, .groups = 2, .tiles_m = 2, .tiles_n = 1},
          *TargetByName("x86-64-v3"));
  }
}

TEST(Matrix, SumsAndOperandsStayInTiles) {
  for (const Product& p : Products()) {
    const auto kernel =
        CompileKernel(NestOf(p), *TargetByName("sapphirerapids"), {.may_alias = {}, .keep_text = true});
    ASSERT_TRUE(kernel.ok()) << kernel.status();
    const std::string& assembly = kernel->assembly;
    const auto count = [&](std::string_view text) {
      int64_t found = 0;
      for (size_t at = assembly.find(text); at != std::string::npos; at = assembly.find(text, at + 1))
        ++found;
      return found;
    };
    EXPECT_THAT(assembly, HasSubstr("tdpb"));
    EXPECT_THAT(assembly, Not(HasSubstr("vpdpbusd")));
    EXPECT_EQ(count("ldtilecfg"), 1);
    EXPECT_EQ(count("tilerelease"), 1);
    EXPECT_EQ(count("tdpb"), p.tiles_m * p.tiles_n);
    EXPECT_EQ(count("tilestored"), p.tiles_m * p.tiles_n);
    if (p.tiles_m == 2) EXPECT_EQ(count("tileloadd"), p.tiles_m + p.tiles_n);
  }
}

}  // namespace
}  // namespace attune

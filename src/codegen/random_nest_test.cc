// Random kernels, each compiled in several ways that must agree: serial loops, which take none of the short
// cuts, against vectorized and unrolled ones for both vector widths.
#include <gtest/gtest.h>

#include "base/random.h"
#include "codegen/run_kernel.h"
#include "device/host.h"

namespace attune {
namespace {

constexpr int64_t kRows = 6, kColumns = 24, kTable = 40;

// Makes the same kernel for every choice of loop kinds: the choices are drawn from a generator of their own.
class Generator {
 public:
  Generator(uint64_t seed, LoopKind inner, LoopKind outer) : random_(seed), inner_(inner), outer_(outer) {}

  LoopNest Make() {
    const int64_t lanes = int64_t{1} << random_.Integer(1, 4);
    const int64_t start = random_.Integer(0, 3);
    const Expr x = Expr(block_) * lanes + Expr(lane_);
    row_expr_ = Expr(row_);
    column_expr_ = x;
    Stmt body = Statement(3);
    body = MakeSequence({MakeStore(out_, {row_expr_, x}, Value(2)), body});
    // Lanes past the end of a row are masked off, by a guard that some divisors of the row make provable.
    body = MakeIf(x < kColumns, body);
    body = MakeFor(lane_, 0, lanes, inner_, body);
    body = MakeFor(block_, 0, CeilDiv(kColumns, lanes), kSerial, body);
    body = MakeFor(row_, start, kRows - start, outer_, body);
    return Nest({{table_, kIn}, {out_, kOut}}, {body}, "random");
  }

 private:
  int64_t Pick(int64_t n) { return random_.Integer(0, n - 1); }

  // An affine index of either sign with small divisions in it.
  Expr Index(int depth) {
    switch (Pick(depth > 0 ? 6 : 3)) {
      case 0:
        return row_expr_;
      case 1:
        return column_expr_;
      case 2:
        return Expr(random_.Integer(-9, 9));
      case 3:
        return Index(depth - 1) * random_.Integer(-3, 3) + Index(depth - 1);
      case 4:
        return FloorDiv(Index(depth - 1), random_.Integer(1, 8));
      default:
        return FloorMod(Index(depth - 1), random_.Integer(1, 8));
    }
  }

  Expr Lookup(const Expr& index) { return Load(table_, {index}); }

  Expr Value(int depth) {
    const auto i32 = [](const Expr& e) { return CastTo(DType::kI32, e); };
    switch (Pick(depth > 0 ? 8 : 3)) {
      case 0:
        return i32(Index(2));
      case 1:
        return Lookup(FloorMod(Index(2), kTable));
      case 2:
        return IntConst(random_.Integer(-100, 100), DType::kI32);
      case 3:
        return Value(depth - 1) + Value(depth - 1);
      case 4:
        return Value(depth - 1) * Value(depth - 1);
      case 5:
        return FloorDiv(Value(depth - 1), Value(depth - 1));
      case 6:
        return Select(Condition(), Value(depth - 1), Value(depth - 1));
      default: {
        const Expr shared = Value(depth - 1);
        return Max(shared, Min(Value(depth - 1), shared * shared));
      }
    }
  }

  Expr Condition() {
    const MathOp ops[] = {MathOp::kLess, MathOp::kLessEqual, MathOp::kEqual, MathOp::kNotEqual,
                          MathOp::kGreater};
    const MathOp op = ops[Pick(5)];
    if (Pick(2) == 0) return MakeOp(op, {Index(2), Index(1)});
    return MakeOp(op, {Value(1), Value(1)});
  }

  Stmt Statement(int depth) {
    const std::vector<Expr> here = {row_expr_, column_expr_};
    const Expr old = Load(out_, here);
    switch (Pick(depth > 0 ? 5 : 2)) {
      case 0:
        return MakeStore(out_, here, old + Value(2));
      case 1: {
        // A lookup that only its guard keeps in bounds.
        const Expr at = Index(2);
        return MakeIf(And(Expr(0) <= at, at < kTable), MakeStore(out_, here, old - Lookup(at)));
      }
      case 2:
        return MakeIf(Condition(), Statement(depth - 1), Pick(2) == 0 ? Statement(depth - 1) : nullptr);
      case 3:
        return MakeSequence({Statement(depth - 1), Statement(depth - 1)});
      default: {
        const Var let = MakeVar("let");
        const Expr value = Index(2), outer = column_expr_;
        const Expr outer_row = row_expr_;
        const Stmt body = MakeStore(out_, here, old + Lookup(FloorMod(Expr(let) + outer, kTable)));
        return MakeLet(let, value, body);
      }
    }
  }

  Random random_;
  LoopKind inner_, outer_;
  Buffer table_ = MakeBuffer("table", DType::kI32, {kTable});
  Buffer out_ = MakeBuffer("out", DType::kI32, {kRows, kColumns});
  Var row_ = MakeVar("row"), block_ = MakeVar("block"), lane_ = MakeVar("lane");
  Expr row_expr_, column_expr_;
};

std::vector<int32_t> RunNest(const LoopNest& nest, const char* cpu) {
  const auto kernel = TestKernel::Make(nest, *TargetByName(cpu), {});
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  std::vector<int32_t> table(kTable), out(kRows * kColumns, 5);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(i * i * 2654435761u >> 20) - 2000;
  Guarded<int32_t> guarded_table(table), guarded_out(out);
  if (kernel.ok()) EXPECT_EQ(kernel->Run({guarded_table.data(), guarded_out.data()}), 0);
  return std::vector<int32_t>(guarded_out.data(), guarded_out.data() + out.size());
}

TEST(RandomNests, LoopKindsAgree) {
  const std::string host = HostTarget()->name;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<int32_t> expected = RunNest(Generator(seed, kSerial, kSerial).Make(), "x86-64-v3");
    const auto agrees = [&](LoopKind inner, LoopKind outer, const std::string& cpu) {
      const LoopNest nest = Generator(seed, inner, outer).Make();
      EXPECT_EQ(RunNest(nest, cpu.c_str()), expected)
          << "seed " << seed << " for " << cpu << ": " << Print(nest);
    };
    agrees(kVector, kSerial, host);
    agrees(kVector, kUnroll, host);
    agrees(kUnroll, kSerial, host);
    agrees(kVector, kUnroll, "x86-64-v3");
  }
}

}  // namespace
}  // namespace attune

#include "tensor/expr.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tensor/stmt.h"
#include "tensor/testing/interpreter.h"

namespace attune {
namespace {

constexpr MathOp kIndexOps[] = {MathOp::kAdd,      MathOp::kSub,      MathOp::kMul,
                                MathOp::kDiv,      MathOp::kMod,      MathOp::kMin,
                                MathOp::kFloorDiv, MathOp::kFloorMod, MathOp::kMax};
constexpr MathOp kComparisons[] = {MathOp::kEqual,     MathOp::kNotEqual, MathOp::kLess,
                                   MathOp::kLessEqual, MathOp::kGreater,  MathOp::kGreaterEqual};

// Expressions of constants and variables, made by the folding constructors, beside the values that the
// operations give when each is applied for itself.
class Generator {
 public:
  struct Valued {
    Expr e;
    ScalarValue value;
  };

  Generator(uint64_t seed, DType dtype) : random_(seed), dtype_(dtype) {
    for (int i = 0; i < 3; ++i) {
      vars_.push_back(MakeVar("v", dtype));
      values_[vars_.back().get()] = {IntConst(random_.Integer(-9, 9), dtype)->int_value, 0};
    }
  }

  Valued Number(int depth) {
    if (depth == 0 || random_.Integer(0, 4) == 0) return Leaf();
    if (random_.Integer(0, 5) == 0) {
      return Apply(MathOp::kSelect, {Condition(depth - 1), Number(depth - 1), Number(depth - 1)});
    }
    return Apply(kIndexOps[random_.Integer(0, 8)], {Number(depth - 1), Number(depth - 1)});
  }

  Valued Condition(int depth) {
    switch (depth == 0 ? 4 : random_.Integer(0, 4)) {
      case 0:
        return Apply(MathOp::kAnd, {Condition(depth - 1), Condition(depth - 1)});
      case 1:
        return Apply(MathOp::kOr, {Condition(depth - 1), Condition(depth - 1)});
      case 2:
        return Apply(MathOp::kNot, {Condition(depth - 1)});
      case 3:
        return Apply(kComparisons[random_.Integer(0, 5)], {Number(depth - 1), Number(depth - 1)});
      default: {
        const bool value = random_.Integer(0, 1) != 0;
        return {BoolConst(value), {value, 0}};
      }
    }
  }

  const std::map<const VarNode*, ScalarValue>& values() const { return values_; }

 private:
  Valued Leaf() {
    if (random_.Integer(0, 1) == 0) {
      const Var& var = vars_[static_cast<size_t>(random_.Integer(0, 2))];
      return {Expr(var), values_[var.get()]};
    }
    constexpr int64_t kSpecial[] = {0, 1, -1, INT64_MIN, INT64_MAX};
    const int64_t drawn =
        random_.Integer(0, 1) == 0 ? kSpecial[random_.Integer(0, 4)] : random_.Integer(-9, 9);
    const Expr e = IntConst(drawn, dtype_);
    return {e, {e->int_value, 0}};
  }

  static Valued Apply(MathOp op, const std::vector<Valued>& args) {
    std::vector<Expr> exprs;
    std::vector<ScalarValue> values;
    for (const Valued& arg : args) {
      exprs.push_back(arg.e);
      values.push_back(arg.value);
    }
    const DType dtype = exprs.back()->dtype;
    return {MakeOp(op, exprs), ApplyOp(op, dtype, values)};
  }

  Random random_;
  DType dtype_;
  std::vector<Var> vars_;
  std::map<const VarNode*, ScalarValue> values_;
};

TEST(Expr, FoldingKeepsTheValue) {
  for (const DType dtype : {DType::kI64, DType::kI32, DType::kI8, DType::kU8}) {
    for (uint64_t seed = 0; seed < 3000; ++seed) {
      Generator generator(seed, dtype);
      for (const Generator::Valued& made : {generator.Number(4), generator.Condition(4)}) {
        ASSERT_EQ(Evaluate(made.e, generator.values()).i, made.value.i)
            << DTypeName(dtype) << " seed " << seed << ": " << Print(made.e);
      }
    }
  }
}

TEST(Expr, FoldsWhatItSays) {
  const Expr x(MakeVar("x")), y(MakeVar("y"));
  const Expr c = x < y;
  const std::pair<Expr, const char*> cases[] = {
      {Expr(6) * 7 - 2, "40"},
      {x + 0, "%x"},
      {0 + x, "%x"},
      {x - 0, "%x"},
      {x * 1, "%x"},
      {x * 0, "0"},
      {FloorDiv(x, 1), "%x"},
      {FloorMod(x, 1), "0"},
      {FloorDiv(-7, 2), "-4"},
      {FloorMod(-7, 2), "1"},
      {FloorDiv(INT64_MIN, 3), "-3074457345618258603"},
      {Expr(-7) / 2, "-3"},
      {Expr(7) / 0, "div(7, 0)"},
      {Select(BoolConst(true), x, y), "%x"},
      {Select(BoolConst(false), x, y), "%y"},
      {And(c, BoolConst(true)), "lt(%x, %y)"},
      {And(c, BoolConst(false)), "bool 0"},
      {Or(c, BoolConst(true)), "bool 1"},
      {Or(BoolConst(false), c), "lt(%x, %y)"},
      {Not(BoolConst(true)), "bool 0"},
      {CastTo(DType::kI64, x), "%x"},
      {CastTo(DType::kU8, Expr(-1)), "u8 255"},
      {CastTo(DType::kF32, Expr(1)), "cast.f32(1)"},
      {FloatConst(0) * Load(MakeBuffer("b", DType::kF32, {4}), {x}), "mul(f32 0, b[%x])"},
  };
  for (const auto& [e, text] : cases) EXPECT_EQ(Print(e), text);
}

TEST(Expr, RewriteSharesWhatDoesNotChange) {
  const Var x = MakeVar("x"), y = MakeVar("y");
  const Expr left = Expr(x) * 3, right = Expr(y) * 5;
  const Expr sum = left + right;
  ExprRewriter rewriter;
  rewriter.var = [&](const Var& v) { return v == y ? Expr(2) : Expr(); };
  const Expr rewritten = Rewrite(sum, rewriter);
  EXPECT_EQ(Print(rewritten), "add(mul(%x, 3), 10)");
  EXPECT_EQ(rewritten->args[0].get(), left.get());
}

TEST(Expr, SameExprComparesStructure) {
  const Var x = MakeVar("x");
  EXPECT_TRUE(SameExpr(Expr(x) * 2 + 1, Expr(x) * 2 + 1));
  EXPECT_FALSE(SameExpr(Expr(x) * 2 + 1, Expr(MakeVar("x")) * 2 + 1));
  EXPECT_FALSE(SameExpr(FloatConst(0.0), FloatConst(-0.0)));
  EXPECT_FALSE(SameExpr(IntConst(1, DType::kI32), IntConst(1, DType::kI64)));
}

}  // namespace
}  // namespace attune

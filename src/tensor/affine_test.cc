#include "tensor/affine.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tensor/stmt.h"
#include "tensor/testing/interpreter.h"

namespace attune {
namespace {

// Three variables with small ranges, of which every assignment is tried. If there is data, it is a function
// of a variable that bounds know nothing of, and lies near the ends of 64 bits or near others whose sums
// wrap.
class Space {
 public:
  Space(Random& random, bool has_data) : has_data_(has_data) {
    for (const char* name : {"a", "b", "c"}) {
      const int64_t min = random.Integer(-4, 3);
      vars_.push_back(MakeVar(name));
      ranges_.push_back({min, min + random.Integer(0, 5)});
      bounds_.Set(vars_.back(), ranges_.back());
    }
  }

  template <typename Function>
  void ForEach(Function function) const {
    std::map<const VarNode*, ScalarValue> values;
    for (int64_t a = ranges_[0].min; a <= ranges_[0].max; ++a) {
      for (int64_t b = ranges_[1].min; b <= ranges_[1].max; ++b) {
        for (int64_t c = ranges_[2].min; c <= ranges_[2].max; ++c) {
          values[vars_[0].get()].i = a;
          values[vars_[1].get()].i = b;
          values[vars_[2].get()].i = c;
          function(values);
        }
      }
    }
  }

  Expr Index(Random& random, int depth) const {
    const int64_t kind = random.Integer(depth == 0 ? 7 : 0, 8);
    if (kind == 8) return Expr(random.Integer(-12, 12));
    if (kind == 7) {
      const Expr x(vars_[static_cast<size_t>(random.Integer(0, 2))]);
      return has_data_ && random.Integer(0, 1) == 0 ? Data(random, x) : x;
    }
    const Expr x = Index(random, depth - 1);
    switch (kind) {
      case 0:
        return x + Index(random, depth - 1);
      case 1:
        return x - Index(random, depth - 1);
      case 2:
        return x * random.Integer(-8, 8);
      case 3:
        return FloorDiv(x, random.Integer(1, 12));
      case 4:
        return FloorMod(x, random.Integer(1, 12));
      case 5:
        return random.Integer(0, 1) == 0 ? Min(x, Index(random, depth - 1))
                                         : Max(x, Index(random, depth - 1));
      default:
        return Select(Condition(random, depth - 1), x, Index(random, depth - 1));
    }
  }

  Expr Condition(Random& random, int depth) const {
    constexpr MathOp kOps[] = {MathOp::kEqual,     MathOp::kNotEqual, MathOp::kLess,
                               MathOp::kLessEqual, MathOp::kGreater,  MathOp::kGreaterEqual};
    const int64_t kind = random.Integer(0, depth == 0 ? 0 : 4);
    if (kind == 1) return And(Condition(random, depth - 1), Condition(random, depth - 1));
    if (kind == 2) return Or(Condition(random, depth - 1), Condition(random, depth - 1));
    if (kind == 3) return Not(Condition(random, depth - 1));
    return MakeOp(kOps[random.Integer(0, 5)], {Index(random, depth), Index(random, depth)});
  }

  const Bounds& bounds() const { return bounds_; }

 private:
  static Expr Data(Random& random, const Expr& x) {
    constexpr int64_t kEdges[] = {0, INT64_MAX, INT64_MAX / 2, INT64_MAX / 3, int64_t{1} << 60};
    return MakeOp(MathOp::kXor, {x, Expr(kEdges[random.Integer(0, std::ssize(kEdges) - 1)])});
  }

  bool has_data_;
  std::vector<Var> vars_;
  std::vector<Interval> ranges_;
  Bounds bounds_;
};

bool IsUnbounded(int64_t limit) { return limit <= Interval::kLow || limit >= Interval::kHigh; }

class BoundsOfRandom : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(WithData, BoundsOfRandom, ::testing::Bool());

TEST_P(BoundsOfRandom, NormalizeAndRangeHoldEverywhere) {
  Random random(1);
  for (int round = 0; round < 4000; ++round) {
    const Space space(random, GetParam());
    const Expr e = space.Index(random, 4);
    const Expr normal = ToExpr(space.bounds().Normalize(e));
    const Interval range = space.bounds().Range(e);
    space.ForEach([&](const auto& values) {
      const int64_t value = Evaluate(e, values).i;
      ASSERT_EQ(Evaluate(normal, values).i, value) << Print(e) << " became " << Print(normal);
      if (!IsUnbounded(range.min)) ASSERT_GE(value, range.min) << Print(e);
      if (!IsUnbounded(range.max)) ASSERT_LE(value, range.max) << Print(e);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(BoundsOfRandom, WhatIsProvedHoldsEverywhere) {
  Random random(2);
  int proved = 0;
  for (int round = 0; round < 4000; ++round) {
    const Space space(random, GetParam());
    const Expr condition = space.Condition(random, 3);
    const std::optional<bool> known = space.bounds().Prove(condition);
    if (!known) continue;
    ++proved;
    space.ForEach([&](const auto& values) {
      ASSERT_EQ(Evaluate(condition, values).i != 0, *known) << Print(condition);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(proved, 400);
}

struct Case {
  Expr e;
  const char* normal;
  Interval range;
};

TEST(Bounds, Divisions) {
  const Var io = MakeVar("io"), ii = MakeVar("ii"), k = MakeVar("k");
  Bounds bounds;
  bounds.Set(io, {0, 9});
  bounds.Set(ii, {0, 15});
  bounds.Set(k, {0, 3});
  const Expr i = Expr(io) * 16 + Expr(ii);
  const Case cases[] = {
      {FloorDiv(i, 16), "%io", {0, 9}},
      {FloorMod(i, 16), "%ii", {0, 15}},
      {FloorDiv(i + 16, 16), "add(%io, 1)", {1, 10}},
      {FloorDiv(i - 1, 16), "add(add(%io, floor_div(add(%ii, 15), 16)), -1)", {-1, 9}},
      // A common factor of the divisor and the leading terms: (16 io + ii) / 32 is io / 2.
      {FloorDiv(i, 32), "floor_div(%io, 2)", {0, 4}},
      {FloorDiv(i * 4 + Expr(k), 64), "%io", {0, 9}},
      {FloorDiv(i * 4 + Expr(k), 128), "floor_div(add(mul(%io, 16), %ii), 32)", {0, 4}},
      // A remainder and the division that goes with it meet again.
      {FloorDiv(i, 12) * 12 + FloorMod(i, 12), "add(mul(%io, 16), %ii)", {0, 159}},
      // A division in a division is one, and their remainder is small.
      {FloorDiv(FloorDiv(i + 3, 12) + 1, 3), "floor_div(add(add(mul(%io, 16), %ii), 15), 36)", {0, 4}},
      {FloorMod(FloorDiv(i, 12), 3),
       "add(floor_div(add(mul(%io, 16), %ii), 12), mul(floor_div(add(mul(%io, 16), %ii), 36), -3))",
       {0, 2}},
      {FloorMod(i, 5), "add(add(mul(%io, 16), %ii), mul(floor_div(add(mul(%io, 16), %ii), 5), -5))", {0, 4}},
  };
  for (const Case& c : cases) {
    const Interval range = bounds.Range(c.e);
    EXPECT_EQ(Print(ToExpr(bounds.Normalize(c.e))), c.normal) << Print(c.e);
    EXPECT_EQ(range.min, c.range.min) << Print(c.e);
    EXPECT_EQ(range.max, c.range.max) << Print(c.e);
  }
}

TEST(Bounds, RangesNest) {
  const Var x = MakeVar("x");
  Bounds bounds;
  EXPECT_EQ(bounds.Of(x).min, Interval::kLow);
  bounds.Set(x, {0, 9});
  bounds.Set(x, {3, 3});
  EXPECT_EQ(Print(ToExpr(bounds.Normalize(Expr(x) + 1))), "4");
  bounds.Unset(x);
  EXPECT_EQ(bounds.Range(Expr(x)).max, 9);
}

// For data, which has any 64 bits.
TEST(Bounds, WhatIsUnboundedStaysSo) {
  const Expr x = Load(MakeBuffer("x", DType::kI64, {1}), {Expr(0)});
  const Bounds bounds;
  for (const int64_t number : {INT64_MIN, INT64_MIN / 3, int64_t{-1}, INT64_MAX / 3, INT64_MAX}) {
    const Expr limit(number);
    for (const Expr& condition : {x<limit, x <= limit, x> limit, x >= limit, Equal(x, limit)})
      EXPECT_FALSE(bounds.Prove(condition).has_value()) << Print(condition);
    EXPECT_EQ(Print(ToExpr(bounds.Normalize(Max(x, limit)))), Print(Max(x, limit)));
    EXPECT_EQ(Print(ToExpr(bounds.Normalize(Min(x, limit)))), Print(Min(x, limit)));
  }
}

// One loop over a batch of open maps, taken apart again.
TEST(Bounds, QuotientsAndRemaindersOfAnOpenLoopStayBeforeTheirEnds) {
  const Var b = MakeVar("b"), h = MakeVar("h"), w = MakeVar("w"), f = MakeVar("f");
  Bounds bounds;
  for (const Var& size : {b, h, w}) bounds.Set(size, {1, 1 << 16});
  const Expr batch(b), height(h), width(w), all(f);
  bounds.Set(f, {0, int64_t{3} << 48}, batch * height * width * Expr(3));
  const Expr column = FloorMod(all, width), pixel = FloorDiv(all, width);
  const Expr row = FloorMod(pixel, height), map = FloorDiv(pixel, height);
  for (const auto& [index, end] : {std::pair(column, width),
                                   {row, height},
                                   {map, batch * Expr(3)},
                                   {FloorDiv(map, Expr(3)), batch},
                                   {all, batch * height * width * Expr(3)}}) {
    EXPECT_EQ(bounds.Prove(index < end), true) << Print(index);
    EXPECT_EQ(bounds.Prove(index >= Expr(0)), true) << Print(index);
    EXPECT_FALSE(bounds.Prove(index + Expr(1) < end).has_value()) << Print(index);
  }
}

TEST(Affine, TermsThatCancelDisappear) {
  const Var x = MakeVar("x"), y = MakeVar("y");
  const Bounds bounds;
  Affine a = bounds.Normalize(Expr(x) * 3 + Expr(y));
  EXPECT_EQ(a.Find(x)->coefficient, 3);
  a.Add(bounds.Normalize(Expr(x)), -3);
  EXPECT_EQ(a.Find(x), nullptr);
  EXPECT_EQ(a.terms.size(), 1);
}

}  // namespace
}  // namespace attune

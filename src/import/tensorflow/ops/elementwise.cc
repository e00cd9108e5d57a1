// Elementwise operators.
#include <numbers>

#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

Value* Unary(OpContext& c, Op op, Value* x) { return c.Emit(op, {x}); }
Value* One(OpContext& c, Value* x) { return c.ScalarLike(x, 1); }

// numerator / denominator, and 0 where `zero` (a bool per element) is true.
Value* DivideUnless(OpContext& c, Value* zero, Value* numerator, Value* denominator) {
  return c.Where(zero, c.ScalarLike(numerator, 0), c.Div(numerator, denominator));
}

Value* IsZero(OpContext& c, Value* x) { return c.Emit(Op::kEqual, {x, c.ScalarLike(x, 0)}); }

}  // namespace

Outputs Unary(OpContext& c, Op op) {
  if (std::optional<Binding> random = OnRandomNumbers(c, op)) return {*random};
  return {c.Emit(op, {c.In(0)})};
}

Outputs Binary(OpContext& c, Op op) {
  if (std::optional<Binding> random = OnRandomNumbers(c, op)) return {*random};
  return {c.Emit(op, {c.In(0), c.In(1)})};
}

// Operators that do not change values: copies, and marks for training and debugging.
Outputs Identity(OpContext& c) { return {c.BindingOf(0)}; }
Outputs IdentityN(OpContext& c) { return c.bindings(); }

// Integers do not need rounding.
Outputs Rounding(OpContext& c, Op op) {
  if (c.BindingOf(0).random == nullptr && IsInt(c.InType(0))) return {c.In(0)};
  return Unary(c, op);
}

Outputs Square(OpContext& c) { return {c.Mul(c.In(0), c.In(0))}; }
Outputs Rsqrt(OpContext& c) { return {c.Div(One(c, c.In(0)), Unary(c, Op::kSqrt, c.In(0)))}; }
Outputs Reciprocal(OpContext& c) { return {c.Div(One(c, c.In(0)), c.In(0))}; }
Outputs Log1p(OpContext& c) { return {Unary(c, Op::kLog, c.Add(c.In(0), 1))}; }
Outputs Expm1(OpContext& c) { return {c.Add(Unary(c, Op::kExp, c.In(0)), -1)}; }
Outputs Erfc(OpContext& c) { return {c.Sub(One(c, c.In(0)), Unary(c, Op::kErf, c.In(0)))}; }
Outputs Elu(OpContext& c) { return {c.Emit(Op::kElu, {c.In(0)}, {{"alpha", 1.0}})}; }
Outputs Softsign(OpContext& c) { return {c.Div(c.In(0), c.Add(Unary(c, Op::kAbs, c.In(0)), 1))}; }
Outputs Relu6(OpContext& c) { return {c.Clip(c.In(0), 0, 6)}; }

Outputs Relu(OpContext& c) {
  if (IsUnsignedInt(c.InType(0))) return {c.In(0)};
  return {Unary(c, Op::kRelu, c.In(0))};
}

// The constants of https://arxiv.org/abs/1706.02515.
Outputs Selu(OpContext& c) {
  constexpr double kScale = 1.0507009873554805;
  constexpr double kAlpha = 1.6732632423543772;
  return {c.Mul(c.Emit(Op::kElu, {c.In(0)}, {{"alpha", kAlpha}}), kScale)};
}

Outputs LeakyRelu(OpContext& c) {
  return {c.Emit(Op::kLeakyRelu, {c.In(0)}, {{"alpha", c.Float("alpha", 0.2)}})};
}

Outputs IsFinite(OpContext& c) {
  Value* x = c.In(0);
  return {Unary(c, Op::kNot, c.Emit(Op::kOr, {Unary(c, Op::kIsNan, x), Unary(c, Op::kIsInf, x)}))};
}

Outputs NotEqual(OpContext& c) { return {Unary(c, Op::kNot, c.Emit(Op::kEqual, {c.In(0), c.In(1)}))}; }

Outputs SquaredDifference(OpContext& c) {
  Value* difference = c.Sub(c.In(0), c.In(1));
  return {c.Mul(difference, difference)};
}

Outputs FloorDiv(OpContext& c) {
  Value* a = c.In(0);
  Value* b = c.In(1);
  return {IsFloat(c.InType(0)) ? Unary(c, Op::kFloor, c.Div(a, b)) : c.FloorDiv(a, b)};
}

Outputs FloorMod(OpContext& c) { return {c.Emit(Op::kMod, {c.In(0), c.In(1)})}; }
Outputs TruncateMod(OpContext& c) {
  return {c.Emit(Op::kMod, {c.In(0), c.In(1)}, {{"truncate", int64_t{1}}})};
}

Outputs DivNoNan(OpContext& c) { return {DivideUnless(c, IsZero(c, c.In(1)), c.In(0), c.In(1))}; }

Outputs MulNoNan(OpContext& c) {
  Value* y = c.In(1);
  return {c.Where(IsZero(c, y), c.ScalarLike(y, 0), c.Mul(c.In(0), y))};
}

Outputs Xdivy(OpContext& c) {
  Value* x = c.In(0);
  return {c.Where(IsZero(c, x), c.ScalarLike(x, 0), c.Div(x, c.In(1)))};
}

// x log y, and 0 where x is 0.
Outputs Xlogy(OpContext& c) {
  Value* x = c.In(0);
  return {c.Where(IsZero(c, x), c.ScalarLike(x, 0), c.Mul(x, Unary(c, Op::kLog, c.In(1))))};
}

// The angle of the point (x, y): atan(y / x), plus half a turn for negative x, and a quarter turn for x =
// 0.
Outputs Atan2(OpContext& c) {
  constexpr double kPi = std::numbers::pi;
  Value* y = c.In(0);
  Value* x = c.In(1);
  Value* below = c.Emit(Op::kLess, {y, c.ScalarLike(y, 0)});
  Value* angle = Unary(c, Op::kAtan, DivideUnless(c, IsZero(c, x), y, x));
  Value* half = c.Where(below, c.ScalarLike(y, -kPi), c.ScalarLike(y, kPi));
  Value* quarter = c.Where(below, c.ScalarLike(y, -kPi / 2), c.ScalarLike(y, kPi / 2));
  Value* left = c.Where(c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)}), c.Add(angle, half), angle);
  Value* axis = c.Where(IsZero(c, y), c.ScalarLike(y, 0), quarter);
  return {c.Where(IsZero(c, x), axis, left)};
}

Outputs Shift(OpContext& c, Op op) {
  if (!IsUnsignedInt(c.InType(0))) Unsupported("shifts of ", DTypeName(c.InType(0)));
  return {c.Emit(op, {c.In(0), c.In(1)})};
}

Outputs AddN(OpContext& c) {
  const std::vector<Value*> values = c.AllIn();
  Value* sum = values[0];
  for (size_t i = 1; i < values.size(); ++i) sum = c.Add(sum, values[i]);
  return {sum};
}

Outputs ClipByValue(OpContext& c) {
  const std::optional<Tensor> low = c.KnownConstant(c.In(1));
  const std::optional<Tensor> high = c.KnownConstant(c.In(2));
  if (low && high && low->num_elements() == 1 && high->num_elements() == 1 && IsFloat(c.InType(0))) {
    return {c.Clip(c.In(0), low->ToNumber(0), high->ToNumber(0))};
  }
  return {c.Max(c.Min(c.In(0), c.In(2)), c.In(1))};
}

// The first version also takes a vector of conditions, one per row.
Outputs Select(OpContext& c) {
  Value* condition = c.In(0);
  if (c.op() == "Select" && condition->type().rank() == 1 && c.InRank(1) > 1) {
    Shape rows(c.InRank(1), 1);
    rows[0] = c.DimOf(condition, 0);
    condition = c.Reshape(condition, rows);
  }
  return {c.Where(condition, c.In(1), c.In(2))};
}

Outputs CastToType(OpContext& c) {
  const DType to = c.TypeAttribute("DstT");
  return {c.Cast(c.In(0), to)};
}

// Along the last axis, or along axis 1 if channels come first.
Outputs BiasAdd(OpContext& c) {
  const bool first = c.String("data_format", "NHWC").substr(0, 2) == "NC";
  Value* sum = c.Add(c.In(0), first ? c.PerChannel(c.In(1), c.InRank(0)) : c.In(1));
  if (sum->type().dims != c.In(0)->type().dims) {
    Invalid("its bias ", ToString(c.In(1)->type()), " does not fit ", ToString(c.In(0)->type()));
  }
  return {sum};
}

}  // namespace attune::tensorflow

// Elementwise operators.
#include <cmath>
#include <limits>
#include <numbers>

#include "import/pytorch/ops/lowerings.h"
#include "import/pytorch/ops/promotion.h"

namespace attune::pytorch {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Adds or multiplies; for bools, these are "or" and "and".
Value* Arithmetic(OpContext& c, Op op, const Operand& a, const Operand& b) {
  const Promoted p = Promote(c, a, b);
  if (p.dtype == DType::kBool) {
    if (op == Op::kSub) Invalid("it subtracts bools");
    op = op == Op::kMul || op == Op::kMin ? Op::kAnd : Op::kOr;
  }
  return c.Emit(op, {p.a, p.b});
}

// b multiplied by the argument alpha.
Operand Scaled(OpContext& c, const Operand& a, const Operand& b) {
  if (!c.Has("alpha")) return b;
  const Number alpha = c.Num("alpha");
  if (ToDouble(alpha) == 1) return b;
  return c.Mul(c.As(b, ResultType({a, b})), c.As(alpha, ResultType({a, b})));
}

Value* Truncated(OpContext& c, Value* x) {
  if (!IsFloat(x->type().dtype)) return x;
  Value* negative = c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)});
  return c.Where(negative, c.Emit(Op::kCeil, {x}), c.Emit(Op::kFloor, {x}));
}

// The quotient of floats, rounded down by way of the remainder, as c10::div_floor_floating does it: a / b may
// already have been rounded up to an integer. 16-bit numbers are divided in f32.
Value* FloorQuotient(OpContext& c, Value* a, Value* b) {
  const DType dtype = a->type().dtype;
  if (DTypeSize(dtype) < 4) {
    return c.Cast(FloorQuotient(c, c.Cast(a, DType::kF32), c.Cast(b, DType::kF32)), dtype);
  }
  const auto compare = [&c](Op op, Value* x, double number) {
    return c.Emit(op, {x, c.ScalarLike(x, number)});
  };
  Value* rest = c.Emit(Op::kMod, {a, b}, {{"truncate", int64_t{1}}});
  Value* differ = c.Emit(Op::kXor, {compare(Op::kLess, rest, 0), compare(Op::kLess, b, 0)});
  Value* exceeds = c.Emit(Op::kAnd, {c.Emit(Op::kNot, {compare(Op::kEqual, rest, 0)}), differ});
  Value* whole = c.Div(c.Sub(a, rest), b);  // an integer, but for rounding errors
  whole = c.Where(exceeds, c.Add(whole, -1), whole);
  Value* floor = c.Emit(Op::kFloor, {whole});
  floor = c.Where(compare(Op::kGreater, c.Sub(whole, floor), 0.5), c.Add(floor, 1), floor);
  // A zero has the sign of a / b, which is from -0 to below 1.
  Value* ratio = c.Div(a, b);
  floor = c.Where(compare(Op::kEqual, whole, 0), c.Emit(Op::kFloor, {ratio}), floor);
  return c.Where(compare(Op::kEqual, b, 0), ratio, floor);
}

// a / b, rounded by PyTorch's rounding_mode: "" for none, "floor" or "trunc".
Value* Quotient(OpContext& c, const Operand& a, const Operand& b, const std::string& rounding) {
  const Promoted p = Promote(c, a, b);
  if (rounding.empty()) {
    const DType dtype = AsFloatType(p.dtype);
    return c.Div(c.Cast(p.a, dtype), c.Cast(p.b, dtype));
  }
  if (rounding == "floor") return IsFloat(p.dtype) ? FloorQuotient(c, p.a, p.b) : c.FloorDiv(p.a, p.b);
  if (rounding == "trunc") return Truncated(c, c.Div(p.a, p.b));
  Invalid("its rounding_mode is '", rounding, "'");
}

Value* Float(OpContext& c) { return c.Cast(c.In("self"), AsFloatType(c.InType("self"))); }

}  // namespace

Outputs Unary(OpContext& c, Op op) { return {c.Emit(op, {c.In("self")})}; }
Outputs UnaryFloat(OpContext& c, Op op) { return {c.Emit(op, {Float(c)})}; }

// Rounding does not change integers.
Outputs Rounding(OpContext& c, Op op) {
  Value* x = c.In("self");
  return {IsFloat(x->type().dtype) ? c.Emit(op, {x}) : x};
}

Outputs RoundDecimals(OpContext& c) {
  Value* x = c.In("self");
  if (!IsFloat(x->type().dtype)) return {x};
  const double scale = std::pow(10, c.Float("decimals"));
  return {c.Div(c.Emit(Op::kRound, {c.Mul(x, scale)}), scale)};
}

Outputs Trunc(OpContext& c) { return {Truncated(c, c.In("self"))}; }
Outputs Frac(OpContext& c) { return {c.Sub(c.In("self"), Truncated(c, c.In("self")))}; }

Outputs Rsqrt(OpContext& c) {
  Value* root = c.Emit(Op::kSqrt, {Float(c)});
  return {c.Div(c.ScalarLike(root, 1), root)};
}

Outputs Reciprocal(OpContext& c) {
  Value* x = Float(c);
  return {c.Div(c.ScalarLike(x, 1), x)};
}

Outputs Square(OpContext& c) { return {c.Mul(c.In("self"), c.In("self"))}; }

Outputs Exp2(OpContext& c) {
  Value* x = Float(c);
  return {c.Emit(Op::kPow, {c.ScalarLike(x, 2), x})};
}

Outputs Expm1(OpContext& c) { return {c.Add(c.Emit(Op::kExp, {Float(c)}), -1)}; }
Outputs Log1p(OpContext& c) { return {c.Emit(Op::kLog, {c.Add(Float(c), 1)})}; }
Outputs Log2(OpContext& c) { return {c.Mul(c.Emit(Op::kLog, {Float(c)}), std::numbers::log2e)}; }
Outputs Log10(OpContext& c) { return {c.Mul(c.Emit(Op::kLog, {Float(c)}), std::numbers::log10e)}; }

Outputs Erfc(OpContext& c) {
  Value* erf = c.Emit(Op::kErf, {Float(c)});
  return {c.Sub(c.ScalarLike(erf, 1), erf)};
}

Outputs IsSpecial(OpContext& c, Op op) {
  if (!IsFloat(c.InType("self"))) return {c.Filled(DType::kBool, 0, c.InShape("self"))};
  return {c.Emit(op, {c.In("self")})};
}

Outputs IsFinite(OpContext& c) {
  Value* x = c.In("self");
  if (!IsFloat(x->type().dtype)) return {c.Filled(DType::kBool, 1, c.ShapeOf(x))};
  return {c.Emit(Op::kNot, {c.Emit(Op::kOr, {c.Emit(Op::kIsNan, {x}), c.Emit(Op::kIsInf, {x})})})};
}

Outputs NanToNum(OpContext& c) {
  Value* x = c.In("self");
  if (!IsFloat(x->type().dtype)) return {x};
  const DType dtype = x->type().dtype;
  const double largest = dtype == DType::kF16   ? 65504
                         : dtype == DType::kF64 ? std::numeric_limits<double>::max()
                         : dtype == DType::kF32 ? std::numeric_limits<float>::max()
                                                : 0x1.FEp127;
  const auto replace = [&](Value* where, double number) { x = c.Where(where, c.Scalar(dtype, number), x); };
  Value* nan = c.Emit(Op::kIsNan, {x});
  Value* above = c.Emit(Op::kEqual, {x, c.Scalar(dtype, kInfinity)});
  Value* below = c.Emit(Op::kEqual, {x, c.Scalar(dtype, -kInfinity)});
  replace(nan, c.Float("nan", 0));
  replace(above, c.Float("posinf", largest));
  replace(below, c.Float("neginf", -largest));
  return {x};
}

Outputs LogicalNot(OpContext& c) { return {c.Emit(Op::kNot, {c.Cast(c.In("self"), DType::kBool)})}; }

Outputs Binary(OpContext& c, Op op) { return {Arithmetic(c, op, c.Either("self"), c.Either("other"))}; }

Outputs AddScaled(OpContext& c, Op op) {
  const Operand a = c.Either("self");
  return {Arithmetic(c, op, a, Scaled(c, a, c.Either("other")))};
}

Outputs Rsub(OpContext& c) {
  const Operand b = c.Either("self");
  const Operand a = c.Either("other");
  return {Arithmetic(c, Op::kSub, a, Scaled(c, a, b))};
}

Outputs Divide(OpContext& c) {
  return {Quotient(c, c.Either("self"), c.Either("other"), c.String("rounding_mode", ""))};
}

Outputs FloorDivide(OpContext& c) { return {Quotient(c, c.Either("self"), c.Either("other"), "floor")}; }

Outputs Modulo(OpContext& c, bool truncate) {
  const Promoted p = Promote(c, c.Either("self"), c.Either("other"));
  return {c.Emit(Op::kMod, {p.a, p.b}, {{"truncate", int64_t{truncate}}})};
}

Outputs Power(OpContext& c) {
  const Operand exponent = c.Either("exponent");
  const Promoted p = Promote(c, c.Either("self"), exponent);
  if (exponent.value == nullptr) {
    const double number = ToDouble(exponent.number);
    if (number == 1) return {p.a};
    if (number == 2) return {c.Mul(p.a, p.a)};
    if (number == 3) return {c.Mul(c.Mul(p.a, p.a), p.a)};
    if (number == 0.5 && IsFloat(p.dtype)) return {c.Emit(Op::kSqrt, {p.a})};
  }
  return {c.Emit(Op::kPow, {p.a, p.b})};
}

Outputs Compare(OpContext& c, Op op, bool negate) {
  Promoted p = Promote(c, c.Either("self"), c.Either("other"));
  if (p.dtype == DType::kBool && op != Op::kEqual) {
    p.a = c.Cast(p.a, DType::kU8);
    p.b = c.Cast(p.b, DType::kU8);
  }
  Value* result = c.Emit(op, {p.a, p.b});
  return {negate ? c.Emit(Op::kNot, {result}) : result};
}

Outputs Logical(OpContext& c, Op op) {
  return {c.Emit(op, {c.As(c.Either("self"), DType::kBool), c.As(c.Either("other"), DType::kBool)})};
}

Outputs Bitwise(OpContext& c, Op op) {
  const Promoted p = Promote(c, c.Either("self"), c.Either("other"));
  return {c.Emit(op, {p.a, p.b})};
}

Outputs Where(OpContext& c) {
  const Promoted p = Promote(c, c.Either("self"), c.Either("other"));
  return {c.Where(c.Cast(c.In("condition"), DType::kBool), p.a, p.b)};
}

Outputs MaskedFill(OpContext& c) {
  Value* x = c.In("self");
  Value* mask = c.Cast(c.In("mask"), DType::kBool);
  return {c.Where(mask, c.As(c.Either("value"), x->type().dtype), x)};
}

Outputs Clamp(OpContext& c) {
  std::vector<Operand> operands = {c.Either("self")};
  bool numbers = true;
  for (const char* limit : {"min", "max"}) {
    if (!c.Has(limit)) continue;
    operands.push_back(c.Either(limit));
    const Operand& given = operands.back();
    numbers &= given.value == nullptr;
  }
  const DType dtype = ResultType(operands);
  Value* x = c.As(operands[0], dtype);
  if (numbers) return {c.Clip(x, c.Exact("min", -kInfinity), c.Exact("max", kInfinity))};
  if (c.Has("min")) x = c.Max(x, c.As(c.Either("min"), dtype));
  if (c.Has("max")) x = c.Min(x, c.As(c.Either("max"), dtype));
  return {x};
}

// self + weight (end - self)
Outputs Lerp(OpContext& c) {
  Value* x = c.In("self");
  Value* weight = c.As(c.Either("weight"), x->type().dtype);
  return {c.Add(x, c.Mul(weight, c.Sub(c.In("end"), x)))};
}

// self + value tensor1 op tensor2
Outputs AddCombined(OpContext& c, Op op) {
  const DType dtype = ResultType({c.In("self"), c.In("tensor1"), c.In("tensor2")});
  Value* combined = c.Emit(op, {c.Cast(c.In("tensor1"), dtype), c.Cast(c.In("tensor2"), dtype)});
  return {c.Add(c.Cast(c.In("self"), dtype), c.Mul(combined, c.Exact("value", 1)))};
}

Outputs CastTo(OpContext& c) {
  Value* x = c.In("self");
  const std::optional<DType> dtype = c.OptionalType("dtype");
  return {dtype ? c.Cast(x, *dtype) : x};
}

Outputs CastLike(OpContext& c) { return {c.Cast(c.In("self"), c.InType("other"))}; }

}  // namespace attune::pytorch

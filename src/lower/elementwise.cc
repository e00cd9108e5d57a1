// Elementwise operators as formulas.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

#include "base/status.h"
#include "lower/definition.h"
#include "lower/operators.h"

namespace attune {
namespace {

Expr Constant(const ExactNumber& value, const Expr& like) { return ConstOf(like->dtype, value); }
Expr Unary(MathOp op, const Expr& x) { return MakeOp(op, {x}); }

Expr Sign(const Expr& x) {
  const Expr zero = Constant(0, x);
  if (IsUnsignedInt(x->dtype)) return Select(x > zero, Constant(1, x), zero);
  return Select(x > zero, Constant(1, x), Select(x < zero, Constant(-1, x), x));
}

Expr Gelu(const Node& node, const Expr& x) {
  const Expr half = Constant(0.5, x), one = Constant(1, x);
  if (node.attrs().String("approximate", "none") == "tanh") {
    const Expr inner = x + Constant(0.044715, x) * x * x * x;
    return half * x * (one + Unary(MathOp::kTanh, Constant(std::sqrt(2 / std::numbers::pi), x) * inner));
  }
  return half * x * (one + Unary(MathOp::kErf, x * Constant(std::numbers::sqrt2 / 2, x)));
}

Expr Clip(const Node& node, Expr x) {
  const Attributes& attrs = node.attrs();
  // Limits of integers are integers within the limits.
  const bool is_float = IsFloat(x->dtype);
  if (attrs.Has("min")) x = Max(x, Constant(is_float ? attrs.Number("min") : attrs.Number("min").Ceil(), x));
  if (attrs.Has("max")) x = Min(x, Constant(is_float ? attrs.Number("max") : attrs.Number("max").Floor(), x));
  return x;
}

// max(x, 0) + ln(1 + e^-|x|), which does not overflow.
Expr Softplus(const Expr& x) {
  const Expr tail = Unary(MathOp::kExp, -Unary(MathOp::kAbs, x));
  return Max(x, Constant(0, x)) + Unary(MathOp::kLog, Constant(1, x) + tail);
}

Expr IsInf(const Node& node, const Expr& x) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Expr positive = And(BoolConst(node.attrs().Int("positive", 1) != 0), Equal(x, Constant(infinity, x)));
  const Expr negative =
      And(BoolConst(node.attrs().Int("negative", 1) != 0), Equal(x, Constant(-infinity, x)));
  return Or(positive, negative);
}

Expr Between(const Expr& x, double low, double high) {
  return Min(Max(x, Constant(low, x)), Constant(high, x));
}

Expr Pow(const Expr& x, const Expr& y) {
  if (IsFloat(x->dtype)) {
    if (y->kind == ExprKind::kFloat && y->float_value == 2) return x * x;
    return MakeOp(MathOp::kPow, {x, CastTo(x->dtype, y)});
  }
  if (!IsFloat(y->dtype)) {
    const DType wide = IsSignedInt(x->dtype) ? DType::kI64 : DType::kU64;
    return CastTo(x->dtype, MakeOp(MathOp::kPow, {CastTo(wide, x), CastTo(wide, y)}));
  }
  return CastTo(x->dtype, MakeOp(MathOp::kPow, {CastTo(DType::kF64, x), CastTo(DType::kF64, y)}));
}

// The operators that are one MathOp.
constexpr std::pair<Op, MathOp> kDirectOps[] = {
    {Op::kNeg, MathOp::kNeg},
    {Op::kAbs, MathOp::kAbs},
    {Op::kFloor, MathOp::kFloor},
    {Op::kCeil, MathOp::kCeil},
    {Op::kRound, MathOp::kRound},
    {Op::kSqrt, MathOp::kSqrt},
    {Op::kExp, MathOp::kExp},
    {Op::kLog, MathOp::kLog},
    {Op::kSin, MathOp::kSin},
    {Op::kCos, MathOp::kCos},
    {Op::kTan, MathOp::kTan},
    {Op::kAsin, MathOp::kAsin},
    {Op::kAcos, MathOp::kAcos},
    {Op::kAtan, MathOp::kAtan},
    {Op::kSinh, MathOp::kSinh},
    {Op::kCosh, MathOp::kCosh},
    {Op::kTanh, MathOp::kTanh},
    {Op::kAsinh, MathOp::kAsinh},
    {Op::kAcosh, MathOp::kAcosh},
    {Op::kAtanh, MathOp::kAtanh},
    {Op::kErf, MathOp::kErf},
    {Op::kSigmoid, MathOp::kSigmoid},
    {Op::kSilu, MathOp::kSilu},
    {Op::kNot, MathOp::kNot},
    {Op::kIsNan, MathOp::kIsNan},
    {Op::kAdd, MathOp::kAdd},
    {Op::kSub, MathOp::kSub},
    {Op::kMul, MathOp::kMul},
    {Op::kDiv, MathOp::kDiv},
    {Op::kMin, MathOp::kMin},
    {Op::kMax, MathOp::kMax},
    {Op::kAnd, MathOp::kAnd},
    {Op::kOr, MathOp::kOr},
    {Op::kXor, MathOp::kXor},
    {Op::kShiftLeft, MathOp::kShiftLeft},
    {Op::kShiftRight, MathOp::kShiftRight},
    {Op::kMulHigh, MathOp::kMulHigh},
    {Op::kEqual, MathOp::kEqual},
    {Op::kLess, MathOp::kLess},
    {Op::kLessEqual, MathOp::kLessEqual},
    {Op::kGreater, MathOp::kGreater},
    {Op::kGreaterEqual, MathOp::kGreaterEqual},
    {Op::kWhere, MathOp::kSelect},
};

}  // namespace

absl::StatusOr<Expr> ElementwiseFormula(const Node& node, const std::vector<Expr>& args) {
  const auto* direct = std::ranges::find(kDirectOps, node.op(), &std::pair<Op, MathOp>::first);
  if (direct != std::end(kDirectOps)) return MakeOp(direct->second, args);
  const Expr& x = args[0];
  const auto attribute = [&](std::string_view name) { return Constant(node.attrs().Float(name), x); };
  switch (node.op()) {
    case Op::kIdentity:
      return x;
    case Op::kSign:
      return Sign(x);
    case Op::kRelu:
      return Max(x, Constant(0, x));
    case Op::kLeakyRelu:
      return Select(x < Constant(0, x), attribute("alpha") * x, x);
    case Op::kElu:
      return Select(x < Constant(0, x), attribute("alpha") * (Unary(MathOp::kExp, x) - Constant(1, x)), x);
    case Op::kSoftplus:
      return Softplus(x);
    case Op::kGelu:
      return Gelu(node, x);
    case Op::kHardSigmoid:
      return Between(attribute("alpha") * x + attribute("beta"), 0, 1);
    case Op::kHardSwish:
      return x * Between(x * Constant(1.0 / 6, x) + Constant(0.5, x), 0, 1);
    case Op::kClip:
      return Clip(node, x);
    case Op::kIsInf:
      return IsInf(node, x);
    case Op::kCast:
      return CastTo(node.attrs().Type("to"), x);
    case Op::kMod:
      return MakeOp(node.attrs().Bool("truncate") ? MathOp::kMod : MathOp::kFloorMod, args);
    case Op::kPow:
      return Pow(x, args[1]);
    default:
      return NotSupported(OpName(node.op()), ": has no elementwise formula");
  }
}

absl::Status DefineElementwise(Definition& definition, const Node& node) {
  absl::Status status;
  definition.Define(node, node.output(), [&](const Indices& i) {
    std::vector<Expr> args;
    for (const Value* input : node.inputs()) args.push_back(definition.ReadBroadcast(input, i));
    absl::StatusOr<Expr> formula = ElementwiseFormula(node, args);
    if (!formula.ok()) {
      status = formula.status();
      return ConstOf(node.output()->type().dtype, 0);
    }
    return *formula;
  });
  return status;
}

}  // namespace attune

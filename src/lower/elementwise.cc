// Elementwise operators as formulas.
#include <cmath>
#include <limits>
#include <numbers>

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
std::optional<MathOp> DirectOp(Op op) {
  switch (op) {
    case Op::kNeg:
      return MathOp::kNeg;
    case Op::kAbs:
      return MathOp::kAbs;
    case Op::kFloor:
      return MathOp::kFloor;
    case Op::kCeil:
      return MathOp::kCeil;
    case Op::kRound:
      return MathOp::kRound;
    case Op::kSqrt:
      return MathOp::kSqrt;
    case Op::kExp:
      return MathOp::kExp;
    case Op::kLog:
      return MathOp::kLog;
    case Op::kSin:
      return MathOp::kSin;
    case Op::kCos:
      return MathOp::kCos;
    case Op::kTan:
      return MathOp::kTan;
    case Op::kAsin:
      return MathOp::kAsin;
    case Op::kAcos:
      return MathOp::kAcos;
    case Op::kAtan:
      return MathOp::kAtan;
    case Op::kSinh:
      return MathOp::kSinh;
    case Op::kCosh:
      return MathOp::kCosh;
    case Op::kTanh:
      return MathOp::kTanh;
    case Op::kAsinh:
      return MathOp::kAsinh;
    case Op::kAcosh:
      return MathOp::kAcosh;
    case Op::kAtanh:
      return MathOp::kAtanh;
    case Op::kErf:
      return MathOp::kErf;
    case Op::kSigmoid:
      return MathOp::kSigmoid;
    case Op::kSilu:
      return MathOp::kSilu;
    case Op::kNot:
      return MathOp::kNot;
    case Op::kIsNan:
      return MathOp::kIsNan;
    case Op::kAdd:
      return MathOp::kAdd;
    case Op::kSub:
      return MathOp::kSub;
    case Op::kMul:
      return MathOp::kMul;
    case Op::kDiv:
      return MathOp::kDiv;
    case Op::kMin:
      return MathOp::kMin;
    case Op::kMax:
      return MathOp::kMax;
    case Op::kAnd:
      return MathOp::kAnd;
    case Op::kOr:
      return MathOp::kOr;
    case Op::kXor:
      return MathOp::kXor;
    case Op::kShiftLeft:
      return MathOp::kShiftLeft;
    case Op::kShiftRight:
      return MathOp::kShiftRight;
    case Op::kMulHigh:
      return MathOp::kMulHigh;
    case Op::kEqual:
      return MathOp::kEqual;
    case Op::kLess:
      return MathOp::kLess;
    case Op::kLessEqual:
      return MathOp::kLessEqual;
    case Op::kGreater:
      return MathOp::kGreater;
    case Op::kGreaterEqual:
      return MathOp::kGreaterEqual;
    case Op::kWhere:
      return MathOp::kSelect;
    default:
      return std::nullopt;
  }
}

}  // namespace

absl::StatusOr<Expr> ElementwiseFormula(const Node& node, const std::vector<Expr>& args) {
  if (const auto direct = DirectOp(node.op())) return MakeOp(*direct, args);
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

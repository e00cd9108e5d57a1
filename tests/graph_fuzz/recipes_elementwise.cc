#include <cmath>

#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

bool IsLogical(const Value& v) { return v.type().dtype == DType::kBool || IsInt(v.type().dtype); }

// An operand of a type that the unary operator takes.
Value* OperandOf(GraphMaker& maker, Op op) {
  switch (op) {
    case Op::kIdentity:
      return maker.AnyValue();
    case Op::kNeg:
    case Op::kAbs:
    case Op::kSign:
    case Op::kClip:
      return maker.AnyNumber();
    case Op::kNot:
      return maker.Any(IsLogical, [&] {
        return maker.New(maker.OneIn(2) ? DType::kBool : maker.IntType(), maker.AnyShape(), 0);
      });
    default:
      return maker.AnyFloat();
  }
}

// Numbers for which the operator is defined, on both sides of each point where its formula changes.
Value* Domain(GraphMaker& maker, Op op) {
  const DType dtype = maker.FloatType();
  const Shape shape = maker.AnyShape();
  switch (op) {
    case Op::kSqrt:
    case Op::kLog:
      return maker.New(dtype, shape, {.low = 0.01, .high = 30}, 0);
    case Op::kAsin:
    case Op::kAcos:
    case Op::kAtanh:
      return maker.New(dtype, shape, {.low = -0.99, .high = 0.99}, 0);
    case Op::kAcosh:
      return maker.New(dtype, shape, {.low = 1.01, .high = 30}, 0);
    case Op::kSoftplus:
    case Op::kSigmoid:
    case Op::kTanh:
    case Op::kErf:
    case Op::kSilu:
    case Op::kGelu:
      return maker.New(dtype, shape, {.low = -25, .high = 25}, 0);
    default:
      return nullptr;
  }
}

Attributes UnaryAttributes(GraphMaker& maker, Op op, DType dtype) {
  Random& random = maker.random();
  switch (op) {
    case Op::kLeakyRelu:
    case Op::kElu:
      return {{"alpha", maker.OneOf({0.0, 0.01, 0.25, 1.0, -0.5, 2.0})}};
    case Op::kGelu:
      return maker.OneIn(2) ? Attributes{} : Attributes{{"approximate", std::string("tanh")}};
    case Op::kHardSigmoid:
      return {{"alpha", 0.05 + random.Uniform()}, {"beta", random.Uniform()}};
    case Op::kIsInf:
      return {{"positive", maker.Pick(2)}, {"negative", maker.Pick(2)}};
    case Op::kClip: {
      Attributes limits;
      ExactNumber low = std::round(8 * random.Normal()) / 4;
      ExactNumber high = maker.OneIn(10) ? low.ToDouble() - 1 : low.ToDouble() + 3 * random.Uniform();
      if (IsInt(dtype) && (maker.integers() || maker.OneIn(4))) {
        low = maker.Edge(dtype);
        high = maker.Edge(dtype);
        if (high < low && !maker.OneIn(4)) std::swap(low, high);
      }
      if (!maker.OneIn(4)) limits.Set("min", low);
      if (!maker.OneIn(4)) limits.Set("max", high);
      return limits;
    }
    default:
      return {};
  }
}

// A second operand, from a special range for operators that do not take every number.
Value* SecondOperand(GraphMaker& maker, Op op, const TensorType& type) {
  const Shape shape = type.shape();
  const Shape part = maker.OneIn(2) ? shape : maker.ShapeWithin(shape);
  switch (op) {
    case Op::kDiv:
    case Op::kMod:
      if (maker.OneIn(8)) return maker.Operand(type);
      return maker.New(type.dtype, part, {.low = 0.5, .high = 5});
    case Op::kPow:
      return maker.New(maker.OneIn(4) ? maker.IntType() : type.dtype, part,
                       {.low = 0, .high = 3, .step = 0.5});
    case Op::kShiftLeft:
    case Op::kShiftRight:
      return maker.New(type.dtype, part, {.low = 0, .high = type.dtype == DType::kI32 ? 31.0 : 70.0});
    default:
      return maker.Operand(type);
  }
}

// Values that look equal, ordered or divisible unless sums wrap: x and x + c, x and c x, or c x and c.
Value* AddKin(GraphMaker& maker, Op op) {
  Value* x = maker.Any([](const Value& v) { return v.type().dtype == DType::kI64; },
                       [&maker] { return maker.New(DType::kI64, maker.AnyShape(), 0); });
  Value* c = maker.New(DType::kI64, {}, {.low = 1, .high = 8}, 3);
  Value* kin = maker.Add(maker.OneOf({Op::kAdd, Op::kSub, Op::kMul}), {x, c});
  if (kin == nullptr) return nullptr;
  const bool divides = op == Op::kDiv || op == Op::kMod;
  Value* other = divides || maker.OneIn(3) ? c : x;
  if (!divides && maker.OneIn(2)) std::swap(kin, other);
  Attributes attrs;
  if (op == Op::kMod) attrs.Set("truncate", maker.Pick(2));
  return maker.Add(op, {kin, other}, std::move(attrs));
}

Value* FirstOperand(GraphMaker& maker, Op op) {
  const auto of = [&maker](DType dtype) {
    return maker.Any(
        [dtype](const Value& v) { return v.type().dtype == dtype; },
        [&maker, dtype] { return maker.New(dtype, maker.AnyShape(), {.low = -1e9, .high = 1e9}, 0); });
  };
  switch (op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return OperandOf(maker, Op::kNot);
    case Op::kShiftLeft:
      return of(maker.OneOf({DType::kU8, DType::kU16, DType::kU32, DType::kU64}));
    case Op::kShiftRight:
      return of(maker.OneOf({DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kI32}));
    case Op::kMulHigh:
      return of(DType::kI32);
    case Op::kPow:
      return maker.OneIn(2) ? maker.New(maker.FloatType(), maker.AnyShape(), {.low = 0.25, .high = 3}, 0)
                            : maker.AnyNumber();
    case Op::kEqual:
      return maker.AnyValue();
    default:
      return maker.OneIn(3) ? maker.AnyNumber() : maker.AnyFloat();
  }
}

}  // namespace

Value* AddUnary(GraphMaker& maker, Op op) {
  Value* x = maker.OneIn(3) ? Domain(maker, op) : nullptr;
  if (x == nullptr) x = OperandOf(maker, op);
  if (op == Op::kSqrt || op == Op::kLog) {
    // A negative value would be NaN, which hides everything after it.
    if (Value* magnitude = maker.Add(Op::kAbs, {x})) x = magnitude;
  }
  return maker.Add(op, {x}, UnaryAttributes(maker, op, x->type().dtype));
}

Value* AddBinary(GraphMaker& maker, Op op) {
  if (maker.integers() && op != Op::kPow && maker.OneIn(4)) {
    if (Value* value = AddKin(maker, op)) return value;
  }
  Value* a = FirstOperand(maker, op);
  Value* b = maker.OneIn(15) ? a : SecondOperand(maker, op, a->type());
  if (op != Op::kPow && maker.OneIn(4)) std::swap(a, b);
  Attributes attrs;
  if (op == Op::kMod) attrs.Set("truncate", maker.Pick(2));
  return maker.Add(op, {a, b}, std::move(attrs));
}

Value* AddCast(GraphMaker& maker, Op op) {
  const DType to = maker.OneIn(2) ? maker.FloatType() : maker.AnyType();
  return maker.Add(op, {maker.AnyValue()}, {{"to", to}});
}

Value* AddWhere(GraphMaker& maker, Op op) {
  Value* then = maker.OneIn(3) ? maker.AnyValue() : maker.AnyFloat();
  const TensorType condition(DType::kBool, then->type().dims);
  Value* otherwise = maker.Operand(TensorType(then->type().dtype, then->type().dims));
  if (maker.OneIn(2)) std::swap(then, otherwise);
  return maker.Add(op, {maker.Operand(condition), then, otherwise});
}

}  // namespace attune::graph_fuzz

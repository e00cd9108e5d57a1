// Quantization. Quotients and products are rounded to the compute type before they are rounded to an integer,
// as the reference does.
#include "base/status.h"
#include "lower/formula.h"
#include "lower/operators.h"

namespace attune {
namespace {

// The element of a parameter (an input of the node) that goes with element `i` of x. The parameter is a
// scalar, or a vector along `axis`, or has one element for each block along `axis`.
Expr ReadParameter(const Definition& definition, const Node& node, int input, const Indices& i) {
  const Value* parameter = node.input(input);
  if (parameter->type().dims.empty()) return definition.Read(parameter, {});
  const int64_t axis = node.attrs().Int("axis", 1), block = node.attrs().Int("block_size", 0);
  const Expr& along = i[static_cast<size_t>(axis)];
  if (block == 0) return definition.Read(parameter, {along});
  return definition.Read(parameter, Replaced(i, axis, FloorDiv(along, block)));
}

// rounded + zero point; the cast saturates and turns NaN into 0. The zero point is an optional input.
Expr Saturated(const Definition& definition, const Node& node, const Expr& rounded, const Indices& i) {
  const DType to = node.attrs().Type("to");
  if (node.input(2) == nullptr) return CastTo(to, rounded);
  return CastTo(to, rounded + CastTo(rounded->dtype, ReadParameter(definition, node, 2, i)));
}

// Rounds to the nearest integer, halves away from zero.
Expr RoundHalfAway(const Expr& value) {
  const DType dtype = value->dtype;
  const Expr size = Apply(MathOp::kAbs, value), whole = Apply(MathOp::kTrunc, size);
  const Expr up = Select(size - whole >= FloatConst(0.5, dtype), FloatConst(1, dtype), FloatConst(0, dtype));
  return Select(value < FloatConst(0, dtype), -(whole + up), whole + up);
}

Expr Rounded(const Node& node, const Expr& value) {
  const bool half_away = node.attrs().String("rounding", "half_even") == "half_away";
  return half_away ? RoundHalfAway(value) : Apply(MathOp::kRound, value);
}

}  // namespace

absl::Status DefineQuantize(Definition& definition, const Node& node) {
  const DType dtype = ComputeType(node.input(0)->type().dtype);
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr scale = CastTo(dtype, ReadParameter(definition, node, 1, i));
    const Expr quotient = definition.ReadComputed(node.input(0), i) / scale;
    return Saturated(definition, node, Rounded(node, quotient), i);
  });
  return absl::OkStatus();
}

absl::Status DefineDequantize(Definition& definition, const Node& node) {
  const DType dtype = ComputeType(node.output()->type().dtype);
  definition.Define(node, node.output(), [&](const Indices& i) {
    Expr value = definition.Read(node.input(0), i);
    if (node.input(2) != nullptr) {
      const DType wide = DTypeSize(value->dtype) < 4 ? DType::kI32 : DType::kI64;
      value = CastTo(wide, value) - CastTo(wide, ReadParameter(definition, node, 2, i));
    }
    return CastTo(dtype, value) * CastTo(dtype, ReadParameter(definition, node, 1, i));
  });
  return absl::OkStatus();
}

absl::Status DefineRequantize(Definition& definition, const Node& node) {
  if (node.input(1)->type().dtype != DType::kF32)
    return NotSupported("fixed point is the pass decompose_quantization's to make");
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr value = CastTo(DType::kF32, definition.Read(node.input(0), i));
    const Expr product = value * CastTo(DType::kF32, ReadParameter(definition, node, 1, i));
    return Saturated(definition, node, Rounded(node, product), i);
  });
  return absl::OkStatus();
}

}  // namespace attune

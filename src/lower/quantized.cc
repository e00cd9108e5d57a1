// Quantization. Quotients and products are rounded to the compute type before they are rounded to an integer,
// as the reference does.
#include <cmath>

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

// Rounds to the nearest integer, halves away from zero: adds the number before 1/2 and truncates. The sum is
// rounded up for a half, and for nothing smaller.
Expr RoundHalfAway(const Expr& value) {
  const DType dtype = value->dtype;
  const double half =
      dtype == DType::kF64 ? std::nextafter(0.5, 0) : static_cast<double>(std::nextafter(0.5F, 0.0F));
  const Expr away = Select(value < FloatConst(0, dtype), FloatConst(-half, dtype), FloatConst(half, dtype));
  return Apply(MathOp::kTrunc, value + away);
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
  if (node.attrs().String("rounding", "half_even") == "fixed_point")
    return NotSupported("fixed point is the pass decompose_quantization's to make");
  const DType dtype = node.input(1)->type().dtype;
  definition.Define(node, node.output(), [&](const Indices& i) {
    const Expr value = CastTo(dtype, definition.Read(node.input(0), i));
    const Expr product = value * ReadParameter(definition, node, 1, i);
    return Saturated(definition, node, Rounded(node, product), i);
  });
  return absl::OkStatus();
}

}  // namespace attune

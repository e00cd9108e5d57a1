// Quantization, and the operators on quantized tensors.
#include <algorithm>

#include "import/onnx/ops/lowerings.h"
#include "import/onnx/ops/window.h"
#include "import/onnx/tensor_proto.h"

namespace attune::onnx {
namespace {

// [] and [1] both mean one value for the whole tensor; [] is canonical.
Value* Scalarize(OpContext& c, Value* x) {
  if (x == nullptr || x->type().rank() != 1 || c.DimOf(x, 0) != 1) return x;
  return c.Reshape(x, {});
}

struct QuantizationParameters {
  Value* scale;
  Value* zero;  // nullptr: 0
  Attributes attrs;
};

QuantizationParameters ReadParameters(OpContext& c) {
  QuantizationParameters p{Scalarize(c, c.In(1)), Scalarize(c, c.OptionalIn(2)), {}};
  if (p.scale->type().rank() == 0) return p;
  p.attrs.Set("axis", Emitter::Axis(c.Int("axis", 1), c.InRank(0)));
  if (const int64_t block = c.Int("block_size", 0)) p.attrs.Set("block_size", block);
  return p;
}

// Elements of fewer than 8 bits saturate at their own limits.
struct NarrowRange {
  double min;
  double max;
};
std::optional<NarrowRange> RangeOf(int onnx_type) {
  switch (onnx_type) {
    case TensorProto::INT4:
      return NarrowRange{-8, 7};
    case TensorProto::UINT4:
      return NarrowRange{0, 15};
    case TensorProto::INT2:
      return NarrowRange{-2, 1};
    case TensorProto::UINT2:
      return NarrowRange{0, 3};
    default:
      return std::nullopt;
  }
}

// The output type of QuantizeLinear: output_dtype, else the zero point's type, else u8.
int TargetType(OpContext& c) {
  if (const int64_t type = c.Int("output_dtype", 0)) return static_cast<int>(type);
  return c.HasInput(2) ? c.BindingOf(2).type : TensorProto::UINT8;
}

// The weights may have one zero point per output channel, which the canonical operator accepts.
Value* ZeroPoint(OpContext& c, int input) { return Scalarize(c, c.OptionalIn(input)); }

// Scales acc by scale_a scale_b / scale_y as one factor, [] or along `axis`, and converts back to 8 bits.
Value* Requantize(OpContext& c, Value* acc, Value* scale_a, Value* scale_b, Value* scale_y, Value* zero_y,
                  int64_t axis) {
  const auto f32 = [&c](Value* x) { return c.Cast(Scalarize(c, x), DType::kF32); };
  Value* factor = c.Div(c.Mul(f32(scale_a), f32(scale_b)), f32(scale_y));
  return c.Emit(Op::kRequantize, {acc, factor, Scalarize(c, zero_y)},
                {{"axis", axis}, {"to", zero_y->type().dtype}});
}

// The convolution of input 0 with input `weights`, whose zero points are inputs 2 and `weights` + 2. ONNX
// only defines it for bytes; the canonical operator also takes i16, but only for bytes that the plan
// widens.
Value* IntegerConv(OpContext& c, int weights) {
  if (c.InType(0) == DType::kI16 || c.InType(weights) == DType::kI16) Unsupported("a convolution of i16");
  const WindowAttributes w = ReadWindow(c, c.InShape(0), KernelOf(c, weights));
  return c.Emit(
      Op::kConvInteger, {c.In(0), c.In(weights), ZeroPoint(c, 2), ZeroPoint(c, weights + 2)},
      {{"strides", w.strides}, {"pads", w.pads}, {"dilations", w.dilations}, {"group", c.Int("group", 1)}});
}

}  // namespace

Outputs QuantizeLinear(OpContext& c) {
  QuantizationParameters p = ReadParameters(c);
  const int type = TargetType(c);
  const std::optional<NarrowRange> range = RangeOf(type);
  const DType to = type == 0 ? p.zero->type().dtype : OrThrow(RequireDType(type));
  if (to != DType::kI8 && to != DType::kU8 && to != DType::kI16 && to != DType::kU16) {
    Unsupported("quantization to ", DTypeName(to));
  }
  Value* x = IsFloat(c.InType(0)) ? c.In(0) : c.Cast(c.In(0), DType::kF32);
  p.attrs.Set("to", to);
  Binding quantized = c.Emit(Op::kQuantize, {x, p.scale, p.zero}, p.attrs);
  if (range) quantized.value = c.Clip(quantized.value, range->min, range->max);
  quantized.type = type;
  return {quantized};
}

Outputs DequantizeLinear(OpContext& c) {
  const QuantizationParameters p = ReadParameters(c);
  // A zero point of i32 must be 0.
  Value* zero = c.InType(0) == DType::kI32 ? nullptr : p.zero;
  Value* y = c.Emit(Op::kDequantize, {c.In(0), p.scale, zero}, p.attrs);
  return {c.Has("output_dtype") && c.Int("output_dtype") != 0 ? c.Cast(y, c.TypeAttribute("output_dtype"))
                                                              : y};
}

// scale = (max(x, 0) - min(x, 0)) / 255; zero = round(-min / scale)
Outputs DynamicQuantizeLinear(OpContext& c) {
  Value* x = c.In(0);
  const Ints all = Iota(c.InRank(0));
  Value* zero = c.ScalarLike(x, 0);
  Value* max = c.Max(c.Reduce(Op::kReduceMax, x, all, false), zero);
  Value* min = c.Min(c.Reduce(Op::kReduceMin, x, all, false), zero);
  Value* range = c.Sub(max, min);
  Value* scale = c.Div(range, 255);
  // If all elements are zero, any scale is correct, but a division by 0 must be avoided.
  Value* flat = c.Emit(Op::kEqual, {scale, zero});
  Value* divisor = c.Where(flat, c.ScalarLike(x, 1), scale);
  Value* offset = c.Emit(Op::kRound, {c.Clip(c.Div(c.Sub(zero, min), divisor), 0, 255)});
  Value* zero_point = c.Cast(offset, DType::kU8);
  return {c.Emit(Op::kQuantize, {x, divisor, zero_point}, {{"to", DType::kU8}}), scale, zero_point};
}

Outputs MatMulInteger(OpContext& c) {
  return {MatMulAnyRank(c, c.In(0), c.In(1), [&c](Value* a, Value* b) {
    return c.Emit(Op::kMatMulInteger, {a, b, ZeroPoint(c, 2), ZeroPoint(c, 3)});
  })};
}

Outputs ConvInteger(OpContext& c) { return {IntegerConv(c, 1)}; }

// (a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)
Outputs QLinearMatMul(OpContext& c) {
  Value* b_scale = Scalarize(c, c.In(4));
  const auto product = [&](Value* a, Value* b) {
    return c.Emit(Op::kMatMulInteger, {a, b, ZeroPoint(c, 2), ZeroPoint(c, 5)});
  };
  const bool simple = Scalarize(c, c.In(1))->type().rank() == 0 && b_scale->type().rank() <= 1 &&
                      Scalarize(c, c.In(2))->type().rank() <= 1 && Scalarize(c, c.In(5))->type().rank() <= 1;
  if (!simple) Unsupported("scales or zero points per row");
  Value* acc = MatMulAnyRank(c, c.In(0), c.In(3), product);
  return {Requantize(c, acc, c.In(1), b_scale, c.In(6), c.In(7), std::max(acc->type().rank() - 1, 0))};
}

// (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?)
Outputs QLinearConv(OpContext& c) {
  Value* acc = IntegerConv(c, 3);
  if (c.HasInput(8)) acc = c.Add(acc, c.PerChannel(c.In(8), acc->type().rank()));
  return {Requantize(c, acc, c.In(1), c.In(4), c.In(6), c.In(7), 1)};
}

}  // namespace attune::onnx

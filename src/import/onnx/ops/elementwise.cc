// Elementwise operators.
#include <cmath>
#include <limits>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// Before opset 7, the attributes broadcast and axis align the second input with the axes of the first from
// `axis` on.
Value* AlignLegacy(OpContext& c, Value* a, Value* b) {
  if (c.opset() >= 7 || !c.Has("axis") || a->type().rank() <= b->type().rank()) return b;
  const int64_t axis = Emitter::Axis(c.Int("axis"), a->type().rank());
  Shape shape = c.ShapeOf(b);
  const int64_t trailing = a->type().rank() - axis - b->type().rank();
  if (trailing > 0) shape.insert(shape.end(), trailing, 1);
  return c.Reshape(b, shape);
}

Outputs Fold(OpContext& c, Op op) {
  const std::vector<Value*> values = c.AllIn();
  Value* result = values[0];
  for (size_t i = 1; i < values.size(); ++i) result = c.Emit(op, {result, values[i]});
  return {result};
}

// One of Clip's limits in the form of opset 6 or 11; nullptr if there is none.
Value* ClipLimit(OpContext& c, int input, const char* attribute) {
  if (c.opset() >= 11) return c.OptionalIn(input);
  return c.Has(attribute) ? c.ScalarLike(c.In(0), c.Float(attribute)) : nullptr;
}

// The limit as a number, if it is known.
std::optional<ExactNumber> KnownLimit(OpContext& c, Value* limit, const ExactNumber& absent) {
  if (limit == nullptr) return absent;
  const std::optional<Tensor> data = c.KnownConstant(limit);
  if (!data || data->num_elements() != 1) return std::nullopt;
  return data->ToNumber(0);
}

}  // namespace

Outputs Unary(OpContext& c, Op op) { return {c.Emit(op, {c.In(0)})}; }
Outputs Binary(OpContext& c, Op op) { return {c.Emit(op, {c.In(0), AlignLegacy(c, c.In(0), c.In(1))})}; }

Outputs Identity(OpContext& c) { return {c.BindingOf(0)}; }

Outputs Sum(OpContext& c) { return Fold(c, Op::kAdd); }
Outputs MinAll(OpContext& c) { return Fold(c, Op::kMin); }
Outputs MaxAll(OpContext& c) { return Fold(c, Op::kMax); }
Outputs Mean(OpContext& c) { return {c.Div(Sum(c)[0].value, c.num_inputs())}; }

Outputs Mod(OpContext& c) { return {c.Emit(Op::kMod, {c.In(0), c.In(1)}, {{"truncate", c.Int("fmod", 0)}})}; }

Outputs BitShift(OpContext& c) {
  const std::string direction = c.Choice("direction", {"LEFT", "RIGHT"});
  return {c.Emit(direction == "LEFT" ? Op::kShiftLeft : Op::kShiftRight, {c.In(0), c.In(1)})};
}

Outputs Relu(OpContext& c) {
  if (IsUnsignedInt(c.InType(0))) return {c.In(0)};
  return {c.Emit(Op::kRelu, {c.In(0)})};
}

Outputs LeakyRelu(OpContext& c) {
  return {c.Emit(Op::kLeakyRelu, {c.In(0)}, {{"alpha", c.Float("alpha", 0.01)}})};
}

Outputs Elu(OpContext& c) { return {c.Emit(Op::kElu, {c.In(0)}, {{"alpha", c.Float("alpha", 1)}})}; }

Outputs Selu(OpContext& c) {
  const double alpha = c.Float("alpha", 1.67326319217681884765625);
  return {
      c.Mul(c.Emit(Op::kElu, {c.In(0)}, {{"alpha", alpha}}), c.Float("gamma", 1.05070102214813232421875))};
}

// alpha elu(x / alpha)
Outputs Celu(OpContext& c) {
  const double alpha = c.Float("alpha", 1);
  return {c.Mul(c.Emit(Op::kElu, {c.Div(c.In(0), alpha)}, {{"alpha", 1.0}}), alpha)};
}

Outputs HardSigmoid(OpContext& c) {
  return {c.Emit(Op::kHardSigmoid, {c.In(0)},
                 {{"alpha", c.Float("alpha", 0.2)}, {"beta", c.Float("beta", 0.5)}})};
}

Outputs Gelu(OpContext& c) {
  return {c.Emit(Op::kGelu, {c.In(0)}, {{"approximate", c.String("approximate", "none")}})};
}

Outputs Mish(OpContext& c) { return {c.Mul(c.In(0), c.Emit(Op::kTanh, {c.Emit(Op::kSoftplus, {c.In(0)})}))}; }

Outputs Swish(OpContext& c) {
  const double alpha = c.Float("alpha", 1);
  if (alpha == 1) return {c.Emit(Op::kSilu, {c.In(0)})};
  return {c.Mul(c.In(0), c.Emit(Op::kSigmoid, {c.Mul(c.In(0), alpha)}))};
}

// x / (1 + |x|)
Outputs Softsign(OpContext& c) { return {c.Div(c.In(0), c.Add(c.Emit(Op::kAbs, {c.In(0)}), 1))}; }

Outputs ThresholdedRelu(OpContext& c) {
  Value* above = c.Emit(Op::kGreater, {c.In(0), c.ScalarLike(c.In(0), c.Float("alpha", 1))});
  return {c.Where(above, c.In(0), c.ScalarLike(c.In(0), 0))};
}

// x + bias below -lambd, x - bias above lambd, 0 between
Outputs Shrink(OpContext& c) {
  Value* x = c.In(0);
  const double bias = c.Float("bias", 0);
  const double lambda = c.Float("lambd", 0.5);
  Value* below = c.Emit(Op::kLess, {x, c.ScalarLike(x, -lambda)});
  Value* above = c.Emit(Op::kGreater, {x, c.ScalarLike(x, lambda)});
  Value* zero = c.ScalarLike(x, 0);
  return {c.Where(below, c.Add(x, bias), c.Where(above, c.Sub(x, c.ScalarLike(x, bias)), zero))};
}

Outputs PRelu(OpContext& c) {
  Value* x = c.In(0);
  Value* slope = c.In(1);
  // Before opset 7, and in many later files, there is one slope per channel.
  const bool per_channel = slope->type().rank() == 1 && x->type().rank() > 2 &&
                           c.DimOf(slope, 0) == c.DimOf(x, 1) &&
                           (c.opset() < 7 || c.DimOf(slope, 0) != c.DimOf(x, -1));
  if (per_channel) slope = c.PerChannel(slope, x->type().rank());
  Value* product = c.Mul(x, slope);
  if (product->type().dims != x->type().dims) {
    Unsupported("its slope, ", ToString(slope->type()), ", is wider than its input, ", ToString(x->type()),
                "; the standard broadcasts the slope alone");
  }
  return {c.Where(c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)}), product, x)};
}

Outputs Clip(OpContext& c) {
  Value* x = c.In(0);
  Value* low = ClipLimit(c, 1, "min");
  Value* high = ClipLimit(c, 2, "max");
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::optional<ExactNumber> known_low = KnownLimit(c, low, -kInfinity);
  const std::optional<ExactNumber> known_high = KnownLimit(c, high, kInfinity);
  if (known_low && known_high) return {c.Clip(x, *known_low, *known_high)};
  if (low != nullptr) x = c.Max(x, c.Reshape(low, {}));
  if (high != nullptr) x = c.Min(x, c.Reshape(high, {}));
  return {x};
}

Outputs Reciprocal(OpContext& c) { return {c.Div(c.ScalarLike(c.In(0), 1), c.In(0))}; }

Outputs IsInf(OpContext& c) {
  return {c.Emit(Op::kIsInf, {c.In(0)},
                 {{"positive", c.Int("detect_positive", 1)}, {"negative", c.Int("detect_negative", 1)}})};
}

Outputs Where(OpContext& c) { return {c.Where(c.In(0), c.In(1), c.In(2))}; }

Outputs Dropout(OpContext& c) {
  bool training = false;
  if (c.opset() < 7) training = !c.Bool("is_test");
  if (c.HasInput(2)) training = c.KnownScalar(c.In(2), "training_mode") != 0;
  // In opset 12, a ratio of 0 drops nothing and needs no random numbers.
  const double ratio = c.HasInput(1) ? c.KnownScalar(c.In(1), "ratio").ToDouble() : c.Float("ratio", 0.5);
  if (training && ratio != 0) Unsupported("training mode drops at random");
  Outputs outputs = {c.In(0)};
  if (c.HasOutput(1)) {
    const DType mask = c.opset() >= 10 ? DType::kBool : c.InType(0);
    outputs.emplace_back(c.Filled(mask, 1, c.InShape(0)));
  }
  return outputs;
}

// Operators of opset 1 that old exporters and converters still write.

Outputs Affine(OpContext& c) { return {c.Add(c.Mul(c.In(0), c.Float("alpha", 1)), c.Float("beta", 0))}; }

Outputs ImageScaler(OpContext& c) {
  Value* scaled = c.Mul(c.In(0), c.Float("scale", 1));
  const std::optional<std::vector<double>> bias = c.FloatList("bias");
  if (!bias) return {scaled};
  const std::vector<float> values(bias->begin(), bias->end());
  Value* offsets = c.Constant(Tensor::FromFloats(values, {static_cast<int64_t>(values.size())}));
  return {c.Add(scaled, c.PerChannel(c.Cast(offsets, c.InType(0)), c.InRank(0)))};
}

Outputs ParametricSoftplus(OpContext& c) {
  return {c.Mul(c.Emit(Op::kSoftplus, {c.Mul(c.In(0), c.Float("beta", 1))}), c.Float("alpha", 1))};
}

Outputs ScaledTanh(OpContext& c) {
  return {c.Mul(c.Emit(Op::kTanh, {c.Mul(c.In(0), c.Float("beta", 1))}), c.Float("alpha", 1))};
}

}  // namespace attune::onnx

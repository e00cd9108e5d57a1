// Piecewise linear activations. On quantized tensors, each piece is a requantization in fixed point.
#include <limits>

#include "import/tflite/ops/integers.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// s_x / s_y in f32.
double ScaleRatio(OpContext& c) {
  return static_cast<float>(c.InScale(0)) / static_cast<float>(c.OutScale());
}

Outputs Clamped(OpContext& c, double min, double max) {
  if (!IsQuantizedUnary(c)) {
    if (min == 0 && max == kInfinity) return {c.Activate(c.Real(0), Activation::RELU)};
    return {c.ApplyBounds(c.ToOutput(c.Real(0)), min, max)};
  }
  Value* x = OpContext::SameQuantization(c.InTensor(0), c.OutTensor())
                 ? c.Stored(0)
                 : c.FixedPoint(c.Centered(0), {ScaleRatio(c)});
  return {c.ApplyBounds(x, min, max)};
}

}  // namespace

Outputs Relu(OpContext& c) { return Clamped(c, 0, kInfinity); }
Outputs Relu6(OpContext& c) { return Clamped(c, 0, 6); }
Outputs ReluMinus1To1(OpContext& c) { return Clamped(c, -1, 1); }
Outputs Relu0To1(OpContext& c) { return Clamped(c, 0, 1); }

Outputs LeakyRelu(OpContext& c) {
  const float alpha = c.Options<schema::LeakyReluOptions>().alpha();
  if (!IsQuantizedUnary(c) || alpha < 0) {
    return {c.Emit(Op::kLeakyRelu, {c.Real(0)}, {{"alpha", static_cast<double>(alpha)}})};
  }
  Value* x = c.Centered(0);
  const float below = static_cast<float>(c.InScale(0)) * alpha / static_cast<float>(c.OutScale());
  Value* negative = c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)});
  return {c.Where(negative, c.FixedPoint(x, {below}), c.FixedPoint(x, {ScaleRatio(c)}))};
}

// x, or alpha x where x < 0; alpha broadcasts.
Outputs PRelu(OpContext& c) {
  if (!IsQuantizedUnary(c) || !c.InQuantized(1)) {
    Value* x = c.Real(0);
    Value* negative = c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)});
    Value* product = c.Mul(x, c.Real(1));
    if (product->type().dims != x->type().dims) Unsupported("its slope is wider than its input");
    return {c.Where(negative, product, x)};
  }
  Value* x = c.Centered(0);
  const float below =
      static_cast<float>(c.InScale(0)) * static_cast<float>(c.InScale(1)) / static_cast<float>(c.OutScale());
  Value* negative = c.Emit(Op::kLess, {x, c.ScalarLike(x, 0)});
  return {
      c.Where(negative, c.FixedPoint(c.Mul(x, c.Centered(1)), {below}), c.FixedPoint(x, {ScaleRatio(c)}))};
}

}  // namespace attune::tflite

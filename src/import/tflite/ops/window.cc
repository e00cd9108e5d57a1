#include "import/tflite/ops/window.h"

#include <algorithm>

#include "base/checked.h"
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

Window PoolWindow(OpContext& c) {
  if (c.InRank(0) != 4) Invalid("its input is ", ToString(c.Stored(0)->type()), ", not of rank 4");
  const auto& options = c.Options<schema::Pool2DOptions>();
  Window window{.kernel = {options.filter_height(), options.filter_width()},
                .strides = {options.stride_h(), options.stride_w()},
                .dilations = {1, 1}};
  SetPads(window, options.padding(), SpatialSizes(c.InShape(0)));
  return window;
}

Value* Pool(OpContext& c, Op op, Value* x, const Window& window) {
  Value* pooled =
      c.EmitNode(op, {ChannelsFirst(c, x)},
                 {{"kernel", window.kernel}, {"strides", window.strides}, {"pads", window.pads}}, 1)
          ->output();
  return ChannelsLast(c, pooled);
}

}  // namespace

Value* ChannelsFirst(OpContext& c, Value* x) {
  Ints perm = Iota(x->type().rank());
  std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return c.Transpose(x, perm);
}

Value* ChannelsLast(OpContext& c, Value* x) {
  Ints perm = Iota(x->type().rank());
  std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return c.Transpose(x, perm);
}

Ints SpatialSizes(const Shape& shape) {
  if (shape.size() < 3) Invalid("its input of rank ", shape.size(), " has no spatial dimension");
  return Ints(shape.begin() + 1, shape.end() - 1);
}

void SetPads(Window& window, schema::Padding padding, const Ints& sizes) {
  const size_t rank = window.kernel.size();
  if (sizes.size() != rank) Invalid("its window has ", rank, " dimensions, its input ", sizes.size());
  window.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    for (int64_t value : {window.kernel[i], window.strides[i], window.dilations[i]}) {
      if (value < 1 || value > INT32_MAX) Invalid("its window has the size, stride or dilation ", value);
    }
    if (padding == schema::Padding::VALID) continue;
    if (padding != schema::Padding::SAME) Invalid("its padding is of kind ", static_cast<int>(padding));
    const int64_t extent = Multiply(window.kernel[i] - 1, window.dilations[i]) + 1;
    const int64_t outputs = CeilDiv(sizes[i], window.strides[i]);
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * window.strides[i] + extent - sizes[i]);
    window.pads[i] = total / 2;
    window.pads[i + rank] = total - total / 2;
  }
}

// Averages the stored integers, whatever they represent, and rounds half away from zero.
Outputs AveragePool(OpContext& c) {
  const Window window = PoolWindow(c);
  const Activation activation = c.Options<schema::Pool2DOptions>().fused_activation_function();
  Value* x = c.Stored(0);
  if (!c.OutQuantized()) return {c.Activate(Pool(c, Op::kAvgPool, x, window), activation)};
  // A quotient of small integers is a tie or far from one, and a factor moves ties away from zero.
  constexpr double kAwayFromZero = 1 + 0x1p-23;
  Value* mean = c.Mul(Pool(c, Op::kAvgPool, c.Cast(x, DType::kF32), window), kAwayFromZero);
  return {c.Activate(c.Cast(c.Emit(Op::kRound, {mean}), c.OutType()), activation)};
}

Outputs MaxPool(OpContext& c) {
  const Window window = PoolWindow(c);
  return {c.Activate(Pool(c, Op::kMaxPool, c.Stored(0), window),
                     c.Options<schema::Pool2DOptions>().fused_activation_function())};
}

// The square root of the mean of squares.
Outputs L2Pool(OpContext& c) {
  const Window window = PoolWindow(c);
  Value* x = c.In(0);
  Value* mean = Pool(c, Op::kAvgPool, c.Mul(x, x), window);
  return {
      c.Activate(c.Emit(Op::kSqrt, {mean}), c.Options<schema::Pool2DOptions>().fused_activation_function())};
}

// x / (bias + alpha Σ x²)^beta over 2 radius + 1 channels; the canonical alpha is for the mean.
Outputs LocalResponseNormalization(OpContext& c) {
  if (c.InRank(0) != 4) Invalid("its input is not of rank 4");
  const auto& options = c.Options<schema::LocalResponseNormalizationOptions>();
  const int64_t size = 2 * CheckedSize(options.radius(), "radius") + 1;
  Value* y = c.Emit(Op::kLrn, {ChannelsFirst(c, c.In(0))},
                    {{"size", size},
                     {"alpha", static_cast<double>(options.alpha()) * static_cast<double>(size)},
                     {"beta", static_cast<double>(options.beta())},
                     {"bias", static_cast<double>(options.bias())}});
  return {ChannelsLast(c, y)};
}

}  // namespace attune::tflite

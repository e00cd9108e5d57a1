// Normalizations and softmaxes.
#include "import/tensorflow/ops/images.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

Outputs SoftmaxLike(OpContext& c, Op op) {
  if (c.InRank(0) == 0) Invalid("its input is a single number");
  return {c.Emit(op, {c.In(0)}, {{"axis", int64_t{c.InRank(0)} - 1}})};
}

}  // namespace

Outputs Softmax(OpContext& c) { return SoftmaxLike(c, Op::kSoftmax); }
Outputs LogSoftmax(OpContext& c) { return SoftmaxLike(c, Op::kLogSoftmax); }

// (x, scale, offset, mean, variance); the parameters are f32 if x has 16 bits.
Outputs FusedBatchNorm(OpContext& c) {
  if (c.Bool("is_training", true)) Unsupported("training mode, which takes the statistics of the batch");
  const Images images(c, c.InRank(0) - 2);
  const DType dtype = c.InType(0);
  Value* y = c.Emit(Op::kBatchNorm,
                    {images.ChannelsFirst(c.In(0)), c.Cast(c.In(1), dtype), c.Cast(c.In(2), dtype),
                     c.Cast(c.In(3), dtype), c.Cast(c.In(4), dtype)},
                    {{"epsilon", c.Float("epsilon", 1e-4)}});
  // The statistics are passed through; the other outputs are for training.
  return {images.AsGiven(y), c.In(3), c.In(4)};
}

// Across channels, which come last: x / (bias + alpha Σ x²)^beta over depth_radius neighbours on both
// sides. The canonical operator divides alpha by the number of neighbours.
Outputs Lrn(OpContext& c) {
  const Images images(c, 2);
  const int64_t radius = CheckedSize(c.Int("depth_radius", 5), "radius");
  const int64_t size = 2 * radius + 1;
  Value* y = c.Emit(Op::kLrn, {images.ChannelsFirst(c.In(0))},
                    {{"size", size},
                     {"alpha", c.Float("alpha", 1) * static_cast<double>(size)},
                     {"beta", c.Float("beta", 0.5)},
                     {"bias", c.Float("bias", 1)}});
  return {images.AsGiven(y)};
}

}  // namespace attune::tensorflow

// Normalizations and softmaxes.
#include <algorithm>
#include <functional>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// Normalizations of opset 17 compute the statistics in stash_type: f32 for the 16-bit floats.
DType StashType(OpContext& c) {
  const DType x = c.InType(0);
  return x == DType::kF64 || c.Int("stash_type", 1) != 1 ? x : DType::kF32;
}

// Calls `apply` along `axis`; before opset 13, over all axes from `axis` on, flattened.
Value* AlongAxis(OpContext& c, const std::function<Value*(Value*, int64_t)>& apply) {
  Value* x = c.In(0);
  const int64_t rank = c.InRank(0);
  if (c.opset() >= 13) return apply(x, Emitter::Axis(c.Int("axis", -1), std::max<int64_t>(rank, 1)));
  const Shape shape = c.InShape(0);
  const int64_t given = c.Int("axis", 1);
  const int64_t axis = given == rank ? rank : Emitter::Axis(given, rank);
  if (axis == rank - 1) return apply(x, axis);
  Value* flat = c.Reshape(x, {Product(shape, 0, axis), Product(shape, axis, rank)});
  return c.Reshape(apply(flat, 1), shape);
}

Value* SoftmaxLike(OpContext& c, Op op) {
  return AlongAxis(c, [&](Value* x, int64_t axis) {
    // The softmax of a single number.
    if (x->type().rank() == 0) return c.Reshape(c.Emit(op, {c.Reshape(x, {1})}, {{"axis", int64_t{0}}}), {});
    return c.Emit(op, {x}, {{"axis", axis}});
  });
}

// Whether the dimensions of `x` are exactly those of `of` from `axis` on.
bool CoversFrom(const Value* x, const Value* of, int64_t axis) {
  const std::vector<Dim>& dims = of->type().dims;
  return x->type().dims == std::vector<Dim>(dims.begin() + axis, dims.end());
}

}  // namespace

Outputs Softmax(OpContext& c) { return {SoftmaxLike(c, Op::kSoftmax)}; }
Outputs LogSoftmax(OpContext& c) { return {SoftmaxLike(c, Op::kLogSoftmax)}; }

// One at the (first) maximum, zero elsewhere.
Outputs Hardmax(OpContext& c) {
  return {AlongAxis(c, [&](Value* x, int64_t axis) {
    Value* best = c.Emit(Op::kArgMax, {x}, {{"axis", axis}});
    Shape positions(x->type().rank(), 1);
    positions[axis] = c.DimOf(x, axis);
    Value* index = c.Reshape(c.Count(DType::kI64, c.DimOf(x, axis)), positions);
    return c.Cast(c.Emit(Op::kEqual, {best, index}), x->type().dtype);
  })};
}

Outputs BatchNormalization(OpContext& c) {
  // Inference mode is expressed by is_test before opset 7, and by a single output before opset 14.
  const double epsilon = c.Float("epsilon", 1e-5);
  Value* x = c.In(0);
  if (c.opset() < 9 && c.Int("spatial", 1) == 0) Unsupported("statistics per element (spatial 0)");
  if (!c.Bool("training_mode")) {
    for (int i = 1; i < 5; ++i) {
      if (c.HasOutput(i) && c.opset() < 14) Unsupported("its running statistics, which training makes");
    }
    const DType dtype = c.InType(0);
    return {c.Emit(
        Op::kBatchNorm,
        {x, c.Cast(c.In(1), dtype), c.Cast(c.In(2), dtype), c.Cast(c.In(3), dtype), c.Cast(c.In(4), dtype)},
        {{"epsilon", epsilon}})};
  }
  if (c.InRank(0) < 2) Invalid("its input has rank ", c.InRank(0), ", needs 2");
  Ints axes = Iota(c.InRank(0));
  axes.erase(axes.begin() + 1);
  const double momentum = c.Float("momentum", 0.9);
  const auto running = [&](Value* old, Value* now) {
    return c.Add(c.Mul(old, momentum), c.Mul(c.Cast(now, old->type().dtype), 1 - momentum));
  };
  Value* mean = c.Reduce(Op::kReduceMean, x, axes);
  Value* centered = c.Sub(x, mean);
  Value* variance = c.Reduce(Op::kReduceMean, c.Mul(centered, centered), axes, false);
  mean = c.Squeeze(mean, axes);
  Value* y =
      c.Emit(Op::kBatchNorm, {x, c.Cast(c.In(1), c.InType(0)), c.Cast(c.In(2), c.InType(0)), mean, variance},
             {{"epsilon", epsilon}});
  return {y, running(c.In(3), mean), running(c.In(4), variance)};
}

Outputs InstanceNormalization(OpContext& c) {
  return {c.Emit(Op::kGroupNorm, {c.In(0), c.In(1), c.In(2)},
                 {{"groups", c.DimOf(c.In(0), 1)}, {"epsilon", c.Float("epsilon", 1e-5)}})};
}

Outputs GroupNormalization(OpContext& c) {
  const int64_t groups = c.Int("num_groups");
  const int64_t channels = c.DimOf(c.In(0), 1);
  if (groups < 1 || channels % groups != 0) Invalid(channels, " channels do not make ", groups, " groups");
  // Before opset 21, scale and bias have one value per group.
  const auto per_channel = [&](Value* value) {
    if (c.opset() >= 21) return value;
    const int64_t size = channels / groups;
    return c.Reshape(c.Broadcast(c.Reshape(value, {groups, 1}), {groups, size}), {channels});
  };
  const DType stash = StashType(c);
  Value* y = c.Emit(
      Op::kGroupNorm,
      {c.Cast(c.In(0), stash), c.Cast(per_channel(c.In(1)), stash), c.Cast(per_channel(c.In(2)), stash)},
      {{"groups", groups}, {"epsilon", c.Float("epsilon", 1e-5)}});
  return {c.Cast(y, c.InType(0))};
}

// Scale and bias broadcast to x, but the canonical operator requires the normalized shape for them.
Outputs LayerNormalization(OpContext& c) {
  Value* x = c.In(0);
  Value* scale = c.In(1);
  Value* bias = c.OptionalIn(2);
  const int64_t axis = Emitter::Axis(c.Int("axis", -1), c.InRank(0));
  const double epsilon = c.Float("epsilon", 1e-5);
  const Attributes attrs = {{"axis", axis}, {"epsilon", epsilon}};
  Outputs outputs;
  if (CoversFrom(scale, x, axis) && (bias == nullptr || CoversFrom(bias, x, axis))) {
    outputs = {c.Emit(Op::kLayerNorm, {x, scale, bias}, attrs)};
  } else {
    Value* y = c.Mul(c.Emit(Op::kLayerNorm, {x}, attrs), scale);
    outputs = {bias != nullptr ? c.Add(y, bias) : y};
  }
  if (!c.HasOutput(1) && !c.HasOutput(2)) return outputs;
  const Ints axes = Iota(c.InRank(0) - axis, axis);
  Value* stashed = c.Cast(x, StashType(c));
  Value* mean = c.Reduce(Op::kReduceMean, stashed, axes);
  Value* centered = c.Sub(stashed, mean);
  Value* variance = c.Reduce(Op::kReduceMean, c.Mul(centered, centered), axes);
  Value* deviation = c.Emit(Op::kSqrt, {c.Add(variance, epsilon)});
  outputs.emplace_back(mean);
  outputs.emplace_back(c.Div(c.ScalarLike(deviation, 1), deviation));
  return outputs;
}

Outputs RmsNormalization(OpContext& c) {
  Value* x = c.In(0);
  Value* scale = c.In(1);
  const int64_t axis = Emitter::Axis(c.Int("axis", -1), c.InRank(0));
  const Attributes attrs = {{"axis", axis}, {"epsilon", c.Float("epsilon", 1e-5)}};
  if (CoversFrom(scale, x, axis) && scale->type().dtype == c.InType(0))
    return {c.Emit(Op::kRmsNorm, {x, scale}, attrs)};
  return {c.Mul(c.Cast(c.Emit(Op::kRmsNorm, {x}, attrs), scale->type().dtype), scale)};
}

// x / norm along the axis; 0 if the norm is 0.
Outputs LpNormalization(OpContext& c) {
  Value* x = c.In(0);
  const Ints axis = {c.Int("axis", -1)};
  const int64_t p = c.Int("p", 2);
  if (p != 1 && p != 2) Invalid("its p is ", p, ", not 1 or 2");
  Value* norm = p == 1 ? c.Reduce(Op::kReduceSum, c.Emit(Op::kAbs, {x}), axis)
                       : c.Emit(Op::kSqrt, {c.Reduce(Op::kReduceSum, c.Mul(x, x), axis)});
  Value* zero = c.ScalarLike(x, 0);
  return {c.Where(c.Emit(Op::kEqual, {norm, zero}), zero, c.Div(x, norm))};
}

// (x - mean) / (standard deviation + 1e-9)
Outputs MeanVarianceNormalization(OpContext& c) {
  Value* x = c.In(0);
  const Ints axes = c.IntList("axes", {0, 2, 3});
  Value* centered = c.Sub(x, c.Reduce(Op::kReduceMean, x, axes));
  Value* deviation = c.Emit(Op::kSqrt, {c.Reduce(Op::kReduceMean, c.Mul(centered, centered), axes)});
  return {c.Div(centered, c.Add(deviation, 1e-9))};
}

}  // namespace attune::onnx

// Normalizations and softmaxes.
#include <algorithm>
#include <limits>

#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

// A scale or a bias in x's type; if there is none, `absent` for each of `count` channels.
Value* Parameter(OpContext& c, const char* name, DType dtype, int64_t count, double absent) {
  return c.Has(name) ? c.Cast(c.In(name), dtype) : c.Filled(dtype, absent, {count});
}

Value* FixedStatistics(OpContext& c) {
  Value* x = c.In("input");
  const DType dtype = x->type().dtype;
  if (!c.Has("running_mean") || !c.Has("running_var")) {
    Unsupported("statistics of the batch; export the model after model.eval()");
  }
  const int64_t channels = c.DimOf(x, 1);
  return c.Emit(Op::kBatchNorm,
                {x, Parameter(c, "weight", dtype, channels, 1), Parameter(c, "bias", dtype, channels, 0),
                 c.Cast(c.In("running_mean"), dtype), c.Cast(c.In("running_var"), dtype)},
                {{"epsilon", c.Float("eps")}});
}

Value* Groups(OpContext& c, int64_t groups, double epsilon) {
  Value* x = c.In("input");
  const DType dtype = x->type().dtype;
  const int64_t channels = c.DimOf(x, 1);
  return c.Emit(Op::kGroupNorm,
                {x, Parameter(c, "weight", dtype, channels, 1), Parameter(c, "bias", dtype, channels, 0)},
                {{"groups", groups}, {"epsilon", epsilon}});
}

// The axis from which on the shape of the input is the normalized shape.
int64_t NormalizedAxis(OpContext& c) {
  const Shape shape = c.InShape("input");
  const Ints normalized = c.IntList("normalized_shape");
  const bool fits = !normalized.empty() && normalized.size() <= shape.size() &&
                    std::equal(normalized.rbegin(), normalized.rend(), shape.rbegin());
  if (!fits) Invalid("its normalized_shape does not end the shape of ", ToString(c.In("input")->type()));
  return static_cast<int64_t>(shape.size() - normalized.size());
}

Value* OptionalParameter(OpContext& c, const char* name) {
  return c.Has(name) ? c.Cast(c.In(name), c.InType("input")) : nullptr;
}

}  // namespace

Outputs BatchNorm(OpContext& c) {
  if (c.Bool("training", false)) Unsupported("training mode; export the model after model.eval()");
  return {FixedStatistics(c)};
}

Outputs InstanceNorm(OpContext& c) {
  if (!c.Bool("use_input_stats", true)) return {FixedStatistics(c)};
  return {Groups(c, c.DimOf(c.In("input"), 1), c.Float("eps"))};
}

Outputs GroupNorm(OpContext& c) {
  return {Groups(c, c.Int(c.Has("group") ? "group" : "num_groups"), c.Float("eps", 1e-5))};
}

Outputs LayerNorm(OpContext& c) {
  return {c.Emit(Op::kLayerNorm,
                 {c.In("input"), OptionalParameter(c, "weight"), OptionalParameter(c, "bias")},
                 {{"axis", NormalizedAxis(c)}, {"epsilon", c.Float("eps", 1e-5)}})};
}

Outputs RmsNorm(OpContext& c) {
  const DType dtype = c.InType("input");
  const double smallest =
      dtype == DType::kF64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return {c.Emit(Op::kRmsNorm, {c.In("input"), OptionalParameter(c, "weight")},
                 {{"axis", NormalizedAxis(c)}, {"epsilon", c.Float("eps", smallest)}})};
}

Outputs Softmax(OpContext& c, Op op) {
  Value* x = c.In("self");
  if (const std::optional<DType> dtype = c.OptionalType("dtype")) x = c.Cast(x, *dtype);
  if (c.Bool("half_to_float", false)) x = c.Cast(x, DType::kF32);
  const int64_t axis = c.AxisOf("dim", x->type().rank());
  if (x->type().rank() == 0) return {c.Reshape(c.Emit(op, {c.Reshape(x, {1})}, {{"axis", axis}}), {})};
  return {c.Emit(op, {x}, {{"axis", axis}})};
}

}  // namespace attune::pytorch

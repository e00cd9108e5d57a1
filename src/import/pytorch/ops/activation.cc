// Activations, and operators that only have an effect in training.
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

// Activations with random slopes and dropout are only supported in evaluation mode, where nothing is
// random.
void RefuseTraining(OpContext& c, std::string_view argument) {
  if (c.Bool(argument, false)) Unsupported("training mode; export the model after model.eval()");
}

Value* Above(OpContext& c, Value* x, const ExactNumber& limit) {
  return c.Emit(Op::kGreater, {x, c.ScalarLike(x, limit)});
}
Value* Below(OpContext& c, Value* x, double limit) { return c.Emit(Op::kLess, {x, c.ScalarLike(x, limit)}); }

}  // namespace

Outputs Relu(OpContext& c) {
  if (IsUnsignedInt(c.InType("self"))) return {c.In("self")};
  return {c.Emit(Op::kRelu, {c.In("self")})};
}

Outputs Relu6(OpContext& c) { return {c.Clip(c.In("self"), 0, 6)}; }

Outputs HardTanh(OpContext& c) {
  return {c.Clip(c.In("self"), c.Exact("min_val", -1), c.Exact("max_val", 1))};
}

Outputs LeakyRelu(OpContext& c) {
  return {c.Emit(Op::kLeakyRelu, {c.In("self")}, {{"alpha", c.Float("negative_slope", 0.01)}})};
}

// In evaluation mode, the slope is the middle of the range for training.
Outputs RandomLeakyRelu(OpContext& c) {
  RefuseTraining(c, "training");
  const double slope = (c.Float("lower", 0.125) + c.Float("upper", 1.0 / 3)) / 2;
  return {c.Emit(Op::kLeakyRelu, {c.In("self")}, {{"alpha", slope}})};
}

// x > 0 ? scale x : scale alpha (exp(input_scale x) - 1)
Outputs Elu(OpContext& c) {
  Value* x = c.In("self");
  const double scale = c.Float("scale", 1);
  const double input_scale = c.Float("input_scale", 1);
  const Attributes attrs = {{"alpha", c.Float("alpha", 1)}};
  if (input_scale == 1) return {c.Mul(c.Emit(Op::kElu, {x}, attrs), scale)};
  Value* curve = c.Emit(Op::kElu, {c.Mul(x, input_scale)}, attrs);
  return {c.Mul(c.Where(Above(c, x, 0), x, curve), scale)};
}

Outputs Selu(OpContext& c) {
  return {c.Mul(c.Emit(Op::kElu, {c.In("self")}, {{"alpha", kSeluAlpha}}), kSeluScale)};
}

// alpha elu(x / alpha)
Outputs Celu(OpContext& c) {
  const double alpha = c.Float("alpha", 1);
  return {c.Mul(c.Emit(Op::kElu, {c.Div(c.In("self"), alpha)}, {{"alpha", 1.0}}), alpha)};
}

Outputs Gelu(OpContext& c) {
  return {c.Emit(Op::kGelu, {c.In("self")}, {{"approximate", c.String("approximate", "none")}})};
}

Outputs HardSigmoid(OpContext& c) {
  return {c.Emit(Op::kHardSigmoid, {c.In("self")}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})};
}

Outputs Mish(OpContext& c) {
  return {c.Mul(c.In("self"), c.Emit(Op::kTanh, {c.Emit(Op::kSoftplus, {c.In("self")})}))};
}

// ln(1 + exp(beta x)) / beta, and x itself if beta x is above the threshold.
Outputs Softplus(OpContext& c) {
  Value* x = c.In("self");
  const double beta = c.Float("beta", 1);
  const double threshold = c.Float("threshold", 20);
  Value* scaled = c.Mul(x, beta);
  Value* y = c.Emit(Op::kSoftplus, {scaled});
  if (beta != 1) y = c.Div(y, beta);
  // From 20 on, the difference between the two is below the precision of f32.
  return {threshold >= 20 && x->type().dtype != DType::kF64 ? y : c.Where(Above(c, scaled, threshold), x, y)};
}

Outputs LogSigmoid(OpContext& c) {
  return {c.Emit(Op::kNeg, {c.Emit(Op::kSoftplus, {c.Emit(Op::kNeg, {c.In("self")})})})};
}

Outputs Threshold(OpContext& c) {
  Value* x = c.In("self");
  Value* is_above = Above(c, x, Exact(c.Num("threshold")));
  return {c.Where(is_above, x, c.ScalarLike(x, Exact(c.Num("value"))))};
}

// One slope, or one per channel.
Outputs PRelu(OpContext& c) {
  Value* x = c.In("self");
  Value* slope = c.In("weight");
  if (slope->type().rank() == 1 && x->type().rank() > 1) slope = c.PerChannel(slope, x->type().rank());
  return {c.Where(Above(c, x, 0), x, c.Mul(x, slope))};
}

Outputs HardShrink(OpContext& c) {
  Value* x = c.In("self");
  const double limit = c.Float("lambd", 0.5);
  Value* outside = c.Emit(Op::kOr, {Below(c, x, -limit), Above(c, x, limit)});
  return {c.Where(outside, x, c.ScalarLike(x, 0))};
}

Outputs SoftShrink(OpContext& c) {
  Value* x = c.In("self");
  const double limit = c.Float("lambd", 0.5);
  Value* inner = c.Where(Below(c, x, -limit), c.Add(x, limit), c.ScalarLike(x, 0));
  return {c.Where(Above(c, x, limit), c.Add(x, -limit), inner)};
}

Outputs TanhShrink(OpContext& c) { return {c.Sub(c.In("self"), c.Emit(Op::kTanh, {c.In("self")}))}; }

// The first half along the axis times the sigmoid of the second half.
Outputs Glu(OpContext& c) {
  Value* x = c.In("self");
  const int64_t axis = c.AxisOf("dim", x->type().rank(), -1);
  const int64_t size = c.DimOf(x, axis);
  if (size % 2 != 0) Invalid("it halves an axis of ", size, " elements");
  Value* gate = c.Emit(Op::kSigmoid, {c.SliceAxis(x, axis, size / 2, size / 2)});
  return {c.Mul(c.SliceAxis(x, axis, 0, size / 2), gate)};
}

Outputs Dropout(OpContext& c) {
  if (c.Float("p", 0.5) != 0) RefuseTraining(c, "train");
  return {c.In(c.Has("self") ? "self" : "input")};
}

}  // namespace attune::pytorch

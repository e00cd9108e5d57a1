// Reductions, scans and sorting along axes.
#include <algorithm>
#include <limits>

#include "import/pytorch/ops/lowerings.h"
#include "import/pytorch/ops/promotion.h"

namespace attune::pytorch {
namespace {

// The argument dim; all axes if it is absent.
Ints ReducedAxes(OpContext& c) {
  const int64_t rank = c.InRank("self");
  Ints axes = c.IntList("dim", {});
  if (axes.empty()) return Iota(rank);
  if (rank == 0) return {};
  return Emitter::Axes(axes, rank);
}

// Converts to the requested type, or else to PyTorch's type for sums: i64 for integers and bools.
Value* SumOperand(OpContext& c) {
  Value* x = c.In("self");
  const DType own = IsFloat(x->type().dtype) ? x->type().dtype : DType::kI64;
  return c.Cast(x, c.OptionalType("dtype").value_or(own));
}

Value* FloatOperand(OpContext& c) {
  Value* x = c.In("self");
  return c.Cast(x, c.OptionalType("dtype").value_or(AsFloatType(x->type().dtype)));
}

Value* AlongAxes(OpContext& c, Op op, Value* x) {
  return c.Reduce(op, x, ReducedAxes(c), c.Bool("keepdim", false));
}

// A tensor and the axis to work along; a scalar temporarily gets an axis.
struct Lane {
  Value* x;
  int64_t axis;
  bool scalar;
};

Lane ReadLane(OpContext& c, Value* x, int64_t axis) {
  const bool scalar = x->type().rank() == 0;
  return {scalar ? c.Reshape(x, {1}) : x, Emitter::Axis(axis, std::max<int64_t>(x->type().rank(), 1)),
          scalar};
}

struct Moments {
  Value* mean;
  Value* variance;
};

// The sum of squared distances from the mean over n - correction.
Moments ReadMoments(OpContext& c) {
  Value* x = c.In("self");
  const Ints axes = ReducedAxes(c);
  double correction = c.Bool("unbiased", true) ? 1 : 0;
  if (c.Has("correction")) correction = c.Float("correction");
  const Shape shape = c.ShapeOf(x);
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(shape[axis]);
  Value* mean = c.Reduce(Op::kReduceMean, x, axes);
  Value* centered = c.Sub(x, mean);
  Value* variance = c.Reduce(Op::kReduceMean, c.Mul(centered, centered), axes);
  variance = c.Mul(variance, count / std::max(count - correction, 0.0));
  if (!c.Bool("keepdim", false)) {
    mean = c.Squeeze(mean, axes);
    variance = c.Squeeze(variance, axes);
  }
  return {mean, variance};
}

// The values and positions of the whole lane in sorted order; equal values keep their order.
Node* Sorted(OpContext& c, const Lane& lane) {
  return c.EmitNode(Op::kTopK, {lane.x},
                    {{"axis", lane.axis},
                     {"k", c.DimOf(lane.x, lane.axis)},
                     {"largest", int64_t{c.Bool("descending", false)}}});
}

Value* AsScalar(OpContext& c, const Lane& lane, Value* value) {
  return lane.scalar ? c.Reshape(value, {}) : value;
}

}  // namespace

Outputs Sum(OpContext& c) { return {AlongAxes(c, Op::kReduceSum, SumOperand(c))}; }
Outputs Prod(OpContext& c) { return {AlongAxes(c, Op::kReduceProd, SumOperand(c))}; }
Outputs Mean(OpContext& c) { return {AlongAxes(c, Op::kReduceMean, FloatOperand(c))}; }
Outputs Extreme(OpContext& c, Op op) { return {AlongAxes(c, op, c.In("self"))}; }

Outputs Truth(OpContext& c, Op op) { return {AlongAxes(c, op, c.Cast(c.In("self"), DType::kBool))}; }

// max.dim: the maxima, and the position of the first maximum.
Outputs ExtremeWithIndex(OpContext& c, Op values, Op positions) {
  const Lane lane = ReadLane(c, c.In("self"), c.Int("dim"));
  const bool keepdim = c.Bool("keepdim", false) && !lane.scalar;
  Value* value = c.Reduce(values, lane.x, {lane.axis}, keepdim);
  return {value, c.Emit(positions, {lane.x}, {{"axis", lane.axis}, {"keepdims", int64_t{keepdim}}})};
}

// Without an axis, the position in the flattened tensor.
Outputs ArgExtreme(OpContext& c, Op op) {
  Value* x = c.In("self");
  const bool keepdim = c.Bool("keepdim", false);
  if (c.Has("dim") && x->type().rank() > 0) {
    return {c.Emit(op, {x}, {{"axis", c.AxisOf("dim", x->type().rank())}, {"keepdims", int64_t{keepdim}}})};
  }
  Value* flat = c.Reshape(x, {Product(c.ShapeOf(x))});
  Value* position = c.Emit(op, {flat}, {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}});
  return {keepdim ? c.Reshape(position, Shape(x->type().rank(), 1)) : position};
}

Outputs Variance(OpContext& c) { return {ReadMoments(c).variance}; }
Outputs Deviation(OpContext& c) { return {c.Emit(Op::kSqrt, {ReadMoments(c).variance})}; }

Outputs VarianceAndMean(OpContext& c) {
  const Moments moments = ReadMoments(c);
  return {moments.variance, moments.mean};
}

// (Σ |x|^p)^(1/p)
Outputs Norm(OpContext& c) {
  const double p = c.Float(c.Has("ord") ? "ord" : "p", 2);
  Value* x = FloatOperand(c);
  Value* magnitude = c.Emit(Op::kAbs, {x});
  if (p == std::numeric_limits<double>::infinity()) return {AlongAxes(c, Op::kReduceMax, magnitude)};
  if (p == -std::numeric_limits<double>::infinity()) return {AlongAxes(c, Op::kReduceMin, magnitude)};
  if (p == 1) return {AlongAxes(c, Op::kReduceSum, magnitude)};
  if (p == 2) return {c.Emit(Op::kSqrt, {AlongAxes(c, Op::kReduceSum, c.Mul(x, x))})};
  if (p == 0) Unsupported("a norm that counts elements");
  Value* sum = AlongAxes(c, Op::kReduceSum, c.Emit(Op::kPow, {magnitude, c.ScalarLike(x, p)}));
  return {c.Emit(Op::kPow, {sum, c.ScalarLike(x, 1 / p)})};
}

// max + log Σ exp(x - max); an infinite maximum is replaced, so that infinities do not cancel.
Outputs LogSumExp(OpContext& c) {
  const Ints axes = ReducedAxes(c);
  Value* x = FloatOperand(c);
  Value* max = c.Reduce(Op::kReduceMax, x, axes);
  Value* finite = c.Where(c.Emit(Op::kIsInf, {max}), c.ScalarLike(max, 0), max);
  Value* sum = c.Reduce(Op::kReduceSum, c.Emit(Op::kExp, {c.Sub(x, finite)}), axes);
  Value* result = c.Add(finite, c.Emit(Op::kLog, {sum}));
  return {c.Bool("keepdim", false) ? result : c.Squeeze(result, axes)};
}

Outputs Scan(OpContext& c, Op op) {
  const Lane lane = ReadLane(c, SumOperand(c), c.Int("dim"));
  return {AsScalar(c, lane, c.Emit(op, {lane.x}, {{"axis", lane.axis}}))};
}

Outputs TopK(OpContext& c) {
  const Lane lane = ReadLane(c, c.In("self"), c.Int("dim", -1));
  Node* node = c.EmitNode(Op::kTopK, {lane.x},
                          {{"axis", lane.axis},
                           {"k", c.Int("k")},
                           {"largest", int64_t{c.Bool("largest", true)}},
                           {"sorted", int64_t{c.Bool("sorted", true)}}});
  return {AsScalar(c, lane, node->output(0)), AsScalar(c, lane, node->output(1))};
}

Outputs Sort(OpContext& c) {
  const Lane lane = ReadLane(c, c.In("self"), c.Int("dim", -1));
  Node* node = Sorted(c, lane);
  return {AsScalar(c, lane, node->output(0)), AsScalar(c, lane, node->output(1))};
}

Outputs ArgSort(OpContext& c) { return {Sort(c)[1]}; }

}  // namespace attune::pytorch

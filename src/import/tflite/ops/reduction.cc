// Reductions, searches and scans along axes.
#include <algorithm>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

bool IsQuantizedReduction(OpContext& c) { return c.InQuantized(0) && c.OutQuantized(); }

Ints ReadAxes(OpContext& c) { return Emitter::Axes(c.KnownInts(1, "axes"), c.InRank(0)); }

bool KeepsAxes(OpContext& c) { return c.Options<schema::ReducerOptions>().keep_dims(); }

Outputs ReduceWith(OpContext& c, Op op) { return {c.Reduce(op, c.In(0), ReadAxes(c), KeepsAxes(c))}; }

// The number of elements per result.
int64_t NumReduced(OpContext& c, const Ints& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count = Multiply(count, c.DimOf(c.Stored(0), axis));
  return count;
}

// Σ (x - zero) times s_x / s_y / count, in fixed point.
Value* QuantizedSum(OpContext& c, const Ints& axes, int64_t count) {
  Value* sum = c.Reduce(Op::kReduceSum, c.Centered(0), axes, KeepsAxes(c));
  return c.FixedPoint(sum, {c.InScale(0) / (static_cast<double>(count) * c.OutScale())});
}

Outputs ArgExtreme(OpContext& c, Op op) {
  const int64_t axis = Emitter::Axis(c.KnownInt(1, "axis"), c.InRank(0));
  Value* index = c.Emit(op, {c.Stored(0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  return {c.Cast(index, c.OutType())};
}

}  // namespace

Outputs Sum(OpContext& c) {
  if (!IsQuantizedReduction(c)) return {c.Reduce(Op::kReduceSum, c.Real(0), ReadAxes(c), KeepsAxes(c))};
  return {QuantizedSum(c, ReadAxes(c), 1)};
}

// The quotient of integers is truncated, and also that of quantized tensors if input and output have the
// same scale; but not for the mean of images, which has a separate kernel.
Outputs Mean(OpContext& c) {
  const Ints axes = ReadAxes(c);
  if (!IsQuantizedReduction(c) && (c.InQuantized(0) || IsFloat(c.InType(0)))) {
    return {c.Reduce(Op::kReduceMean, c.Real(0), axes, KeepsAxes(c))};
  }
  const int64_t count = std::max<int64_t>(NumReduced(c, axes), 1);
  const bool images = KeepsAxes(c) && c.InRank(0) == 4 && axes == Ints{1, 2};
  const bool same = OpContext::SameQuantization(c.InTensor(0), c.OutTensor());
  if (IsQuantizedReduction(c) && (images || !same)) return {QuantizedSum(c, axes, count)};
  Value* x = c.InType(0) == DType::kI64 ? c.Stored(0) : c.Cast(c.Stored(0), DType::kI32);
  Value* sum = c.Reduce(Op::kReduceSum, x, axes, KeepsAxes(c));
  return {c.Cast(c.Div(sum, count), c.OutType())};
}

Outputs ReduceProd(OpContext& c) { return ReduceWith(c, Op::kReduceProd); }
Outputs ReduceMax(OpContext& c) { return ReduceWith(c, Op::kReduceMax); }
Outputs ReduceMin(OpContext& c) { return ReduceWith(c, Op::kReduceMin); }
Outputs ArgMax(OpContext& c) { return ArgExtreme(c, Op::kArgMax); }
Outputs ArgMin(OpContext& c) { return ArgExtreme(c, Op::kArgMin); }

Outputs CumSum(OpContext& c) {
  const auto& options = c.Options<schema::CumsumOptions>();
  return {c.Emit(Op::kCumSum, {c.In(0)},
                 {{"axis", Emitter::Axis(c.KnownInt(1, "axis"), c.InRank(0))},
                  {"exclusive", int64_t{options.exclusive()}},
                  {"reverse", int64_t{options.reverse()}}})};
}

Outputs TopK(OpContext& c) {
  const int64_t axis = Emitter::Axis(-1, c.InRank(0));
  Node* node =
      c.EmitNode(Op::kTopK, {c.Stored(0)}, {{"axis", axis}, {"k", c.KnownInt(1, "number of elements")}});
  return {node->output(0), c.Cast(node->output(1), c.OutType(1))};
}

}  // namespace attune::tflite

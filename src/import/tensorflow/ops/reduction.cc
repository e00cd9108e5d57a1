// Reductions, scans, sorting.
#include <algorithm>

#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

Value* Reduced(OpContext& c, Op op, Value* x) {
  const Tensor axes = c.Known(c.In(1), "axes");
  return c.Reduce(op, x, axes.ToInts(), c.Bool("keep_dims"));
}

// Integers are computed in double if the formula leaves the integers.
Value* AsFloat(OpContext& c, Value* x) { return IsFloat(x->type().dtype) ? x : c.Cast(x, DType::kF64); }

Outputs ArgExtreme(OpContext& c, Op op) {
  const int64_t axis = Emitter::Axis(c.KnownInt(c.In(1), "axis"), c.InRank(0));
  Value* index = c.Emit(op, {c.In(0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  return {c.Cast(index, c.TypeAttribute("output_type", DType::kI64))};
}

Outputs Scan(OpContext& c, Op op) {
  return {c.Emit(op, {c.In(0)},
                 {{"axis", Emitter::Axis(c.KnownInt(c.In(1), "axis"), c.InRank(0))},
                  {"exclusive", int64_t{c.Bool("exclusive")}},
                  {"reverse", int64_t{c.Bool("reverse")}}})};
}

}  // namespace

Outputs Reduction(OpContext& c, Op op) { return {Reduced(c, op, c.In(0))}; }

Outputs EuclideanNorm(OpContext& c) {
  Value* x = AsFloat(c, c.In(0));
  return {c.Cast(c.Emit(Op::kSqrt, {Reduced(c, Op::kReduceSum, c.Mul(x, x))}), c.InType(0))};
}

Outputs ArgMax(OpContext& c) { return ArgExtreme(c, Op::kArgMax); }
Outputs ArgMin(OpContext& c) { return ArgExtreme(c, Op::kArgMin); }
Outputs CumSum(OpContext& c) { return Scan(c, Op::kCumSum); }
Outputs CumProd(OpContext& c) { return Scan(c, Op::kCumProd); }

// Along the last axis; the old version has k as an attribute.
Outputs TopK(OpContext& c) {
  const int64_t k = c.num_inputs() > 1 ? c.KnownInt(c.In(1), "k") : c.Int("k");
  if (c.InRank(0) == 0) Invalid("its input is a single number");
  Node* node =
      c.EmitNode(Op::kTopK, {c.In(0)},
                 {{"axis", int64_t{c.InRank(0)} - 1}, {"k", k}, {"sorted", int64_t{c.Bool("sorted", true)}}});
  return {node->output(0), c.Cast(node->output(1), c.TypeAttribute("index_type", DType::kI32))};
}

}  // namespace attune::tensorflow

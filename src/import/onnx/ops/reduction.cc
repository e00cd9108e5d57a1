// Reductions, scans, sorting.
#include <algorithm>

#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

struct Reduction {
  Ints axes;
  bool keepdims;
};

// Axes are an attribute, and an input since opset `input_since`. If absent: all axes, or none with
// noop_with_empty_axes.
Reduction ReadReduction(OpContext& c, int64_t input_since) {
  Ints axes;
  if (c.opset() < input_since) {
    axes = c.IntList("axes", {});
  } else if (c.HasInput(1)) {
    axes = c.KnownInts(c.In(1), "axes");
  }
  if (axes.empty() && !c.Bool("noop_with_empty_axes")) axes = Iota(c.InRank(0));
  return {Emitter::Axes(axes, c.InRank(0)), c.Bool("keepdims", true)};
}

Reduction ReadReduction(OpContext& c) { return ReadReduction(c, 18); }

Value* Apply(OpContext& c, Op op, Value* x, const Reduction& r) {
  return c.Reduce(op, x, r.axes, r.keepdims);
}

// Integers are computed in double if the formula leaves the integers.
Value* AsFloat(OpContext& c, Value* x) { return IsFloat(x->type().dtype) ? x : c.Cast(x, DType::kF64); }

Outputs ArgExtreme(OpContext& c, Op op) {
  return {c.Emit(op, {c.In(0)},
                 {{"axis", Emitter::Axis(c.Int("axis", 0), c.InRank(0))},
                  {"keepdims", int64_t{c.Bool("keepdims", true)}},
                  {"select_last", int64_t{c.Bool("select_last_index")}}})};
}

Outputs Scan(OpContext& c, Op op) {
  const Ints axis = c.KnownInts(c.In(1), "axis");
  if (axis.size() != 1) Invalid("its axis must be a single number");
  return {c.Emit(op, {c.In(0)},
                 {{"axis", Emitter::Axis(axis[0], c.InRank(0))},
                  {"exclusive", int64_t{c.Bool("exclusive")}},
                  {"reverse", int64_t{c.Bool("reverse")}}})};
}

}  // namespace

Outputs ReduceSum(OpContext& c) { return {Apply(c, Op::kReduceSum, c.In(0), ReadReduction(c, 13))}; }
Outputs ReduceMean(OpContext& c) { return {Apply(c, Op::kReduceMean, c.In(0), ReadReduction(c))}; }
Outputs ReduceProd(OpContext& c) { return {Apply(c, Op::kReduceProd, c.In(0), ReadReduction(c))}; }
Outputs ReduceMax(OpContext& c) { return {Apply(c, Op::kReduceMax, c.In(0), ReadReduction(c))}; }
Outputs ReduceMin(OpContext& c) { return {Apply(c, Op::kReduceMin, c.In(0), ReadReduction(c))}; }

Outputs ReduceL1(OpContext& c) {
  return {Apply(c, Op::kReduceSum, c.Emit(Op::kAbs, {c.In(0)}), ReadReduction(c))};
}

Outputs ReduceSumSquare(OpContext& c) {
  return {Apply(c, Op::kReduceSum, c.Mul(c.In(0), c.In(0)), ReadReduction(c))};
}

Outputs ReduceL2(OpContext& c) {
  Value* x = AsFloat(c, c.In(0));
  Value* norm = c.Emit(Op::kSqrt, {Apply(c, Op::kReduceSum, c.Mul(x, x), ReadReduction(c))});
  return {c.Cast(norm, c.InType(0))};
}

Outputs ReduceLogSum(OpContext& c) {
  Value* sum = Apply(c, Op::kReduceSum, AsFloat(c, c.In(0)), ReadReduction(c));
  return {c.Cast(c.Emit(Op::kLog, {sum}), c.InType(0))};
}

// max + log Σ exp(x - max); an infinite maximum is replaced, so that infinities do not cancel.
Outputs ReduceLogSumExp(OpContext& c) {
  Reduction r = ReadReduction(c);
  Value* x = AsFloat(c, c.In(0));
  Value* max = c.Reduce(Op::kReduceMax, x, r.axes);
  Value* finite = c.Where(c.Emit(Op::kIsInf, {max}), c.ScalarLike(max, 0), max);
  Value* sum = c.Reduce(Op::kReduceSum, c.Emit(Op::kExp, {c.Sub(x, finite)}), r.axes);
  Value* result = c.Add(finite, c.Emit(Op::kLog, {sum}));
  if (!r.keepdims) result = c.Squeeze(result, r.axes);
  return {c.Cast(result, c.InType(0))};
}

Outputs ArgMax(OpContext& c) { return ArgExtreme(c, Op::kArgMax); }
Outputs ArgMin(OpContext& c) { return ArgExtreme(c, Op::kArgMin); }
Outputs CumSum(OpContext& c) { return Scan(c, Op::kCumSum); }
Outputs CumProd(OpContext& c) { return Scan(c, Op::kCumProd); }

Outputs TopK(OpContext& c) {
  const Ints k = c.opset() >= 10 ? c.KnownInts(c.In(1), "k") : Ints{c.Int("k")};
  if (k.size() != 1) Invalid("its k must be a single number");
  const int64_t axis = Emitter::Axis(c.Int("axis", -1), c.InRank(0));
  Node* node = c.EmitNode(Op::kTopK, {c.In(0)},
                          {{"axis", axis},
                           {"k", k[0]},
                           {"largest", int64_t{c.Bool("largest", true)}},
                           {"sorted", int64_t{c.Bool("sorted", true)}}});
  return {node->output(0), node->output(1)};
}

}  // namespace attune::onnx

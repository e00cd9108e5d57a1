// Reductions, searches and scans along axes.
#include <algorithm>
#include <bit>

#include "import/tflite/ops/integers.h"
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

// Σ (x - zero) times s_x / s_y in fixed point, where the mantissa is divided by the count and loses as many
// digits as the quotient has less.
Value* QuantizedMean(OpContext& c, const Ints& axes, int64_t count) {
  Value* sum = c.Reduce(Op::kReduceSum, c.Centered(0), axes, KeepsAxes(c));
  QuantizedMultiplier by = QuantizedMultiplier::Of(c.InScale(0) / c.OutScale());
  const int places =
      std::min({static_cast<int>(std::bit_width(static_cast<uint64_t>(count))) - 1, 32, 31 + by.shift});
  by.mantissa = by.mantissa * (int64_t{1} << places) / count;
  by.shift -= places;
  return Saturated(c, Scaled(c, sum, by));
}

// For u8: Σ (x - zero) times s_x / s_y in fixed point. For other types, whose reference kernel takes them for
// u8, as the optimized kernel does it: Σ x times s_x / s_y, and for each element less its zero point times
// that, in f32.
Value* QuantizedSum(OpContext& c, const Ints& axes) {
  if (c.InType(0) == DType::kU8) {
    Value* sum = c.Reduce(Op::kReduceSum, c.Centered(0), axes, KeepsAxes(c));
    return c.FixedPoint(sum, {c.InScale(0) / c.OutScale()});
  }
  Value* sum = c.Reduce(Op::kReduceSum, c.Cast(c.Stored(0), DType::kI32), axes, KeepsAxes(c));
  const float ratio = static_cast<float>(c.InScale(0)) / static_cast<float>(c.OutScale());
  const float zeros = static_cast<float>(-c.InZero(0)) * ratio * static_cast<float>(NumReduced(c, axes));
  // The product of floats is exact in f64, where no sum is fused with it.
  Value* exact = c.Mul(c.Cast(c.Cast(sum, DType::kF32), DType::kF64), static_cast<double>(ratio));
  Value* steps = c.Add(c.Cast(exact, DType::kF32), static_cast<double>(zeros));
  return c.Quantize(steps, 1, c.OutZero(), c.OutType());
}

Outputs ArgExtreme(OpContext& c, Op op) {
  const int64_t axis = Emitter::Axis(c.KnownInt(1, "axis"), c.InRank(0));
  Value* index = c.Emit(op, {c.Stored(0)}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  return {c.Cast(index, c.OutType())};
}

}  // namespace

Outputs Sum(OpContext& c) {
  if (!IsQuantizedReduction(c)) return {c.Reduce(Op::kReduceSum, c.Real(0), ReadAxes(c), KeepsAxes(c))};
  return {QuantizedSum(c, ReadAxes(c))};
}

// Integers that represent themselves are summed in 64 bits, and their mean is truncated.
Outputs Mean(OpContext& c) {
  const Ints axes = ReadAxes(c);
  if (!IsQuantizedReduction(c)) return {c.Reduce(Op::kReduceMean, c.Real(0), axes, KeepsAxes(c))};
  return {QuantizedMean(c, axes, std::max<int64_t>(NumReduced(c, axes), 1))};
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

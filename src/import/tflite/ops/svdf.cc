// SVDF: a filter of rank r over features, then over time.
//
// Shapes: x [B, I], features [F, I], time [F, M], bias [U], state [B, F M] for F = U r filters that
// remember M steps. The state shifts by one step; each filter's result for x becomes the newest.
#include "import/tflite/ops/lowerings.h"
#include "import/tflite/ops/products.h"

namespace attune::tflite {
namespace {

struct Filters {
  int64_t batch;
  int64_t filters;
  int64_t memory;
  int64_t rank;
};

Filters ReadFilters(OpContext& c) {
  if (c.InRank(0) != 2 || c.InRank(1) != 2 || c.InRank(2) != 2)
    Invalid("its input and weights are not of rank 2");
  const Shape time = c.InShape(2);
  const Filters f{c.InShape(0)[0], time[0], time[1],
                  CheckedSize(c.Options<schema::SVDFOptions>().rank(), "rank", 1)};
  if (f.filters % f.rank != 0 || f.memory < 1)
    Invalid("its ", f.filters, " filters are not of rank ", f.rank);
  return f;
}

// Removes the oldest step of the state and appends `newest` [B, F]: [B, F, M].
Value* Shifted(OpContext& c, const Filters& f, Value* state, Value* newest) {
  newest = c.Reshape(newest, {f.batch, f.filters, 1});
  if (f.memory == 1) return newest;
  state = c.Reshape(state, {f.batch, f.filters, f.memory});
  return c.Concat({c.SliceAxis(state, 2, 1, f.memory - 1), newest}, 2);
}

// The sum over time, then over the rank: [B, U].
Value* OverTime(OpContext& c, const Filters& f, Value* state, Value* time) {
  Value* sums = c.Reduce(Op::kReduceSum, c.Mul(state, time), {2}, false);
  sums = c.Reshape(sums, {f.batch, f.filters / f.rank, f.rank});
  return c.Reduce(Op::kReduceSum, sums, {2}, false);
}

// The kernel for integers: both products in fixed point, with a state of 16 or 8 bits between them. It has no
// activation: the output's range is that of its results.
Outputs QuantizedSvdf(OpContext& c, const Filters& f) {
  const schema::Tensor& state = c.InTensor(4);
  const auto single = [](double scale) { return static_cast<float>(scale); };
  const ProductInputs p;
  Value* sums = c.Emit(Op::kMatMulInteger, {c.Stored(0), c.Stored(1), InputZero(c, p), WeightZero(c, p)},
                       {{"transpose_b", int64_t{1}}});
  const float feature_scale = single(c.InScale(0)) * single(c.InScale(1)) / single(c.InScale(4));
  const DType dtype = RequireDType(state.type());
  Value* newest = c.FixedPointTo(sums, {feature_scale}, 0, dtype, 0);
  Value* steps =
      c.Cast(Shifted(c, f, c.Filled(dtype, 0, {f.batch, f.filters * f.memory}), newest), DType::kI32);
  Value* acc = OverTime(c, f, steps, c.Cast(c.Stored(2), DType::kI32));
  if (c.HasInput(3)) acc = c.Add(acc, c.Stored(3));
  const float time_scale = single(c.InScale(4)) * single(c.InScale(2)) / single(c.OutScale());
  return {c.FixedPoint(acc, {time_scale})};
}

}  // namespace

Outputs Svdf(OpContext& c) {
  const Filters f = ReadFilters(c);
  const Activation activation = c.Options<schema::SVDFOptions>().fused_activation_function();
  if (c.InQuantized(0) && c.InQuantized(1) && c.InQuantized(2) && c.InQuantized(4) && c.OutQuantized()) {
    return QuantizedSvdf(c, f);
  }
  Value* newest = c.MatMul(c.Real(0), c.Real(1), false, true);
  Value* state = c.Filled(DType::kF32, 0, {f.batch, f.filters * f.memory});
  Value* y = OverTime(c, f, Shifted(c, f, state, newest), c.Real(2));
  if (c.HasInput(3)) y = c.Add(y, c.Real(3));
  return {c.Activate(y, activation)};
}

}  // namespace attune::tflite

// Normalizations along the last axis.
#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

int64_t LastAxis(OpContext& c) { return Emitter::Axis(-1, c.InRank(0)); }

}  // namespace

Outputs Softmax(OpContext& c) {
  const double beta = static_cast<double>(c.Options<schema::SoftmaxOptions>().beta());
  return {c.Emit(Op::kSoftmax, {c.Mul(c.In(0), beta)}, {{"axis", LastAxis(c)}})};
}

Outputs LogSoftmax(OpContext& c) { return {c.Emit(Op::kLogSoftmax, {c.In(0)}, {{"axis", LastAxis(c)}})}; }

// x / max(|x|, 1e-6)
Outputs L2Normalization(OpContext& c) {
  Value* x = c.In(0);
  Value* squares = c.Reduce(Op::kReduceSum, c.Mul(x, x), {LastAxis(c)});
  Value* norm = c.Emit(Op::kSqrt, {squares});
  return {c.Div(x, c.Max(norm, c.ScalarLike(norm, 1e-6)))};
}

}  // namespace attune::tflite

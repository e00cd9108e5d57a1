// Optimizer steps of ai.onnx.preview.training: (rate, step count, for n tensors: x…, gradient…, state…) →
// (x…, state…).
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

struct Parameters {
  Value* rate;   // []
  Value* count;  // [] i64
  int tensors;
};

// `groups` values per tensor follow the first two inputs.
Parameters ReadParameters(OpContext& c, int groups) {
  const int tensors = (c.num_inputs() - 2) / groups;
  if (tensors < 1 || c.num_inputs() != 2 + groups * tensors) Invalid("it has ", c.num_inputs(), " inputs");
  return {c.Reshape(c.In(0), {}), c.Reshape(c.In(1), {}), tensors};
}

// The gradient plus that of norm/2 |x|².
Value* Regularized(OpContext& c, Value* x, Value* gradient) {
  const double norm = c.Float("norm_coefficient", 0);
  return norm == 0 ? gradient : c.Add(c.Mul(x, norm), gradient);
}

Value* IsFirstStep(OpContext& c, const Parameters& p) {
  return c.Emit(Op::kLessEqual, {p.count, c.ScalarLike(p.count, 0)});
}

}  // namespace

Outputs Adagrad(OpContext& c) {
  const Parameters p = ReadParameters(c, 3);
  const int n = p.tensors;
  Outputs outputs(2 * n);
  Value* decay = c.Add(c.Mul(c.Cast(p.count, p.rate->type().dtype), c.Float("decay_factor", 0)), 1);
  Value* rate = c.Div(p.rate, decay);
  for (int i = 0; i < n; ++i) {
    Value* x = c.In(2 + i);
    Value* g = Regularized(c, x, c.In(2 + n + i));
    Value* h = c.Add(c.In(2 + 2 * n + i), c.Mul(g, g));
    Value* divisor = c.Add(c.Emit(Op::kSqrt, {h}), c.Float("epsilon", 1e-6));
    outputs[i] = c.Sub(x, c.Div(c.Mul(rate, g), divisor));
    outputs[n + i] = h;
  }
  return outputs;
}

Outputs Adam(OpContext& c) {
  const Parameters p = ReadParameters(c, 4);
  const int n = p.tensors;
  const double alpha = c.Float("alpha", 0.9);
  const double beta = c.Float("beta", 0.999);
  // Bias correction from the first step on: rate sqrt(1 - betaᵗ) / (1 - alphaᵗ).
  const DType dtype = p.rate->type().dtype;
  Value* count = c.Cast(p.count, dtype);
  const auto rest = [&](double base) {
    return c.Sub(c.Scalar(dtype, 1), c.Emit(Op::kPow, {c.Scalar(dtype, base), count}));
  };
  Value* corrected = c.Div(c.Mul(p.rate, c.Emit(Op::kSqrt, {rest(beta)})), rest(alpha));
  Value* rate = c.Where(IsFirstStep(c, p), p.rate, corrected);
  Outputs outputs(3 * n);
  for (int i = 0; i < n; ++i) {
    Value* x = c.In(2 + i);
    Value* g = Regularized(c, x, c.In(2 + n + i));
    Value* v = c.Add(c.Mul(c.In(2 + 2 * n + i), alpha), c.Mul(g, 1 - alpha));
    Value* h = c.Add(c.Mul(c.In(2 + 3 * n + i), beta), c.Mul(c.Mul(g, g), 1 - beta));
    Value* divisor = c.Add(c.Emit(Op::kSqrt, {h}), c.Float("epsilon", 1e-6));
    Value* next = c.Sub(x, c.Mul(rate, c.Div(v, divisor)));
    outputs[i] = c.Mul(next, 1 - c.Float("norm_coefficient_post", 0));
    outputs[n + i] = v;
    outputs[2 * n + i] = h;
  }
  return outputs;
}

Outputs Momentum(OpContext& c) {
  const Parameters p = ReadParameters(c, 3);
  const int n = p.tensors;
  const double alpha = c.Float("alpha");
  const bool nesterov = c.Choice("mode", {"standard", "nesterov"}) == "nesterov";
  Outputs outputs(2 * n);
  for (int i = 0; i < n; ++i) {
    Value* x = c.In(2 + i);
    Value* g = Regularized(c, x, c.In(2 + n + i));
    Value* beta = c.Where(IsFirstStep(c, p), c.ScalarLike(g, 1), c.ScalarLike(g, c.Float("beta")));
    Value* v = c.Add(c.Mul(c.In(2 + 2 * n + i), alpha), c.Mul(beta, g));
    Value* direction = nesterov ? c.Add(g, c.Mul(v, alpha)) : v;
    outputs[i] = c.Sub(x, c.Mul(p.rate, direction));
    outputs[n + i] = v;
  }
  return outputs;
}

}  // namespace attune::onnx

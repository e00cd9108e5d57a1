// The few operators of ai.onnx.ml that are tensor arithmetic.
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {

// Selects columns along the last axis.
Outputs ArrayFeatureExtractor(OpContext& c) {
  Value* x = c.In(0);
  if (x->type().rank() == 1) x = c.Unsqueeze(x, {0});
  Value* columns = c.Reshape(c.In(1), {Product(c.InShape(1))});
  return {c.Gather(x, c.NonNegative(columns, x, -1, 1, "gather"), -1)};
}

Outputs Binarizer(OpContext& c) {
  Value* x = c.In(0);
  return {c.Cast(c.Emit(Op::kGreater, {x, c.ScalarLike(x, c.Float("threshold", 0))}), x->type().dtype)};
}

}  // namespace attune::onnx

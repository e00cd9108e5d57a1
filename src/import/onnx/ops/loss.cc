// Losses.
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// -weight[target] log_prob[target], or 0 if the target is ignore_index, then reduced. log_prob [N, C, D1,
// …], target [N, D1, …], weight [C] or nullptr.
Value* NegativeLogLikelihood(OpContext& c, Value* log_prob, Value* target, Value* weight) {
  Value* keep = nullptr;  // bool, whether the target counts
  if (c.Has("ignore_index")) {
    Value* ignored =
        c.Constant(Tensor::FromInts(Ints{c.Int("ignore_index")}, target->type().dtype).Reshaped({}));
    keep = c.Emit(Op::kNot, {c.Emit(Op::kEqual, {target, ignored})});
    target = c.Where(keep, target, c.ScalarLike(target, 0));
  }
  target = c.NonNegative(target, log_prob, 1, 1, "gather_elements");
  Value* picked = c.Emit(Op::kGatherElements, {log_prob, c.Unsqueeze(target, {1})}, {{"axis", int64_t{1}}});
  Value* loss = c.Emit(Op::kNeg, {c.Squeeze(picked, {1})});
  Value* zero = c.ScalarLike(loss, 0);
  Value* weights = nullptr;
  if (weight != nullptr) {
    weights = c.Gather(weight, target, 0);
  } else if (keep != nullptr) {
    weights = c.Filled(loss->type().dtype, 1, c.ShapeOf(loss));
  }
  if (keep != nullptr) {
    weights = c.Where(keep, weights, zero);
    loss = c.Where(keep, loss, zero);
  }
  if (weights != nullptr) loss = c.Mul(loss, weights);
  const std::string reduction = c.Choice("reduction", {"mean", "sum", "none"});
  if (reduction == "none") return loss;
  const Ints all = Iota(loss->type().rank());
  if (reduction == "mean" && weights == nullptr) return c.Reduce(Op::kReduceMean, loss, all, false);
  Value* sum = c.Reduce(Op::kReduceSum, loss, all, false);
  return reduction == "sum" ? sum : c.Div(sum, c.Reduce(Op::kReduceSum, weights, all, false));
}

}  // namespace

Outputs NegativeLogLikelihoodLoss(OpContext& c) {
  return {NegativeLogLikelihood(c, c.In(0), c.In(1), c.OptionalIn(2))};
}

Outputs SoftmaxCrossEntropyLoss(OpContext& c) {
  Value* log_prob = c.Emit(Op::kLogSoftmax, {c.In(0)}, {{"axis", int64_t{1}}});
  return {NegativeLogLikelihood(c, log_prob, c.In(1), c.OptionalIn(2)), log_prob};
}

}  // namespace attune::onnx

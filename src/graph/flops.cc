#include "graph/flops.h"

namespace attune {
namespace {

// Elements of weights that meet each element of the other side: all but the leading dimension.
int64_t WeightsOfOneRow(const Node& node) {
  const TensorType& weights = node.input(1)->type();
  const int64_t rows = weights.shape()[0];
  return rows == 0 ? 0 : weights.num_elements() / rows;
}

// Elements of the scores of an attention: heads, queries and keys.
int64_t Scores(const Node& node) {
  const Shape q = node.input(0)->type().shape(), k = node.input(1)->type().shape();
  return q[0] * q[1] * q[2] * k[2];
}

}  // namespace

int64_t CountMultiplyAdds(const Node& node) {
  const int64_t outputs = node.output()->type().num_elements();
  switch (node.op()) {
    case Op::kConv:
    case Op::kConvInteger:
    case Op::kDeformConv:
      return outputs * WeightsOfOneRow(node);
    case Op::kConvTranspose:
      return node.input(0)->type().num_elements() * WeightsOfOneRow(node);
    case Op::kMatMul:
    case Op::kMatMulInteger: {
      const Shape a = node.input(0)->type().shape();
      return outputs * (node.attrs().Bool("transpose_a") ? a[a.size() - 2] : a.back());
    }
    case Op::kAttention:
      return Scores(node) * (node.input(0)->type().shape()[3] + node.input(2)->type().shape()[3]);
    default:
      return 0;
  }
}

int64_t CountFlops(const Node& node) {
  const int64_t outputs = node.output()->type().num_elements();
  if (node.op() == Op::kAttention)
    return 2 * CountMultiplyAdds(node) + Scores(node) * GetOpInfo(Op::kSoftmax).flops;
  if (GetOpInfo(node.op()).category == OpCategory::kContraction) return 2 * CountMultiplyAdds(node);
  switch (node.op()) {
    case Op::kMaxPool:
    case Op::kAvgPool: {
      int64_t taps = 1;
      for (int64_t k : node.attrs().IntList("kernel")) taps *= k;
      return outputs * taps;
    }
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceMax:
    case Op::kReduceMin:
      return node.input(0)->type().num_elements();
    default:
      return outputs * GetOpInfo(node.op()).flops;
  }
}

}  // namespace attune

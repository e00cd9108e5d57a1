// Scaled dot-product attention, head by head; each row of scores is kept as a whole.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/parallel.h"
#include "base/status.h"
#include "reference/broadcast.h"
#include "reference/kernels.h"
#include "reference/magnitude.h"
#include "reference/panel.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// The product of a [rows, depth] and b, a matrix with `depth` rows and `width` columns that has the given
// strides.
std::vector<double> Multiply(const double* a, int64_t rows, int64_t depth, const double* b, int64_t width,
                             int64_t row_stride, int64_t column_stride) {
  std::vector<double> out(static_cast<size_t>(rows * width), 0.0);
  for (int64_t first = 0; first < width; first += kPanelColumns) {
    const std::vector<double> panel = GatherPanel(b, depth, width, row_stride, column_stride, first);
    MultiplyPanel(a, rows, depth, panel.data(), std::min(kPanelColumns, width - first), out.data() + first,
                  width);
  }
  return out;
}

void SoftmaxRow(double* row, int64_t size) {
  const double largest = *std::max_element(row, row + size);
  double sum = 0;
  for (int64_t j = 0; j < size; ++j) sum += row[j] = std::exp(row[j] - largest);
  for (int64_t j = 0; j < size; ++j) row[j] /= sum;
}

// The sizes and values of q, k, v and the mask, for all heads of the batch.
struct Heads {
  int64_t heads, queries, keys, depth, value_depth;
  double scale;
  std::vector<double> q, k, v, mask;

  const double* Q(int64_t h) const { return q.data() + h * queries * depth; }
  const double* K(int64_t h) const { return k.data() + h * keys * depth; }
  const double* V(int64_t h) const { return v.data() + h * keys * value_depth; }
};

absl::StatusOr<Heads> ReadHeads(const Node& node, Inputs inputs) {
  const Shape& q = inputs[0].shape();
  const Shape& k = inputs[1].shape();
  Heads h{.heads = q[0] * q[1],
          .queries = q[2],
          .keys = k[2],
          .depth = q[3],
          .value_depth = inputs[2].shape()[3],
          .scale = node.attrs().Float("scale"),
          .q = Load<double>(inputs[0]),
          .k = Load<double>(inputs[1]),
          .v = Load<double>(inputs[2]),
          .mask = {}};
  if (IsPresent(inputs, 3)) {
    ASSIGN_OR_RETURN(const Tensor mask, BroadcastTo(inputs[3], {q[0], q[1], q[2], k[2]}));
    h.mask = Load<double>(mask);
  }
  return h;
}

// The attention weights [queries, keys] of one head.
std::vector<double> Weights(const Heads& h, int64_t head) {
  std::vector<double> scores =
      Multiply(h.Q(head), h.queries, h.depth, h.K(head), h.keys, /*row_stride=*/1, /*column_stride=*/h.depth);
  const int64_t size = h.queries * h.keys;
  for (int64_t i = 0; i < size; ++i) {
    scores[i] = scores[i] * h.scale + (h.mask.empty() ? 0.0 : h.mask[head * size + i]);
  }
  for (int64_t i = 0; i < h.queries && h.keys > 0; ++i) SoftmaxRow(scores.data() + i * h.keys, h.keys);
  return scores;
}

// Calls f(head) for every head, which returns [queries, value_depth], and assembles the output.
template <typename F>
absl::StatusOr<Tensor> GatherHeads(const Heads& h, Inputs inputs, DType dtype, F f) {
  const Shape& q = inputs[0].shape();
  const int64_t size = h.queries * h.value_depth;
  std::vector<double> out(static_cast<size_t>(h.heads * size));
  ParallelFor(h.heads, [&](int64_t head) {
    const std::vector<double> values = f(head);
    std::copy(values.begin(), values.end(), out.begin() + head * size);
  });
  return Store(out, dtype, {q[0], q[1], h.queries, h.value_depth});
}

}  // namespace

Outputs EvaluateAttention(const Node& node, Inputs inputs) {
  ASSIGN_OR_RETURN(const Heads h, ReadHeads(node, inputs));
  return One(GatherHeads(h, inputs, inputs[0].dtype(), [&](int64_t head) {
    return Multiply(Weights(h, head).data(), h.queries, h.keys, h.V(head), h.value_depth, h.value_depth, 1);
  }));
}

// To first order, an error e in every score changes an attention weight by a factor within 1 ± 2e, and e
// itself is bounded by scale Σ|q||k|. So each row's bound is Σ p|v| (1 + 2 max_j scale Σ|q||k_j|).
absl::StatusOr<Tensor> AttentionMagnitude(const Node& node, std::span<const Tensor> inputs) {
  ASSIGN_OR_RETURN(const Heads h, ReadHeads(node, inputs));
  Heads absolute = h;
  for (std::vector<double>* values : {&absolute.q, &absolute.k, &absolute.v}) {
    for (double& value : *values) value = std::fabs(value);
  }
  return GatherHeads(h, inputs, DType::kF64, [&](int64_t head) {
    std::vector<double> weights = Weights(h, head);
    const std::vector<double> scores =
        Multiply(absolute.Q(head), h.queries, h.depth, absolute.K(head), h.keys, 1, h.depth);
    for (int64_t i = 0; i < h.queries && h.keys > 0; ++i) {
      const auto row = scores.begin() + i * h.keys;
      const double amplification = 1 + 2 * std::fabs(h.scale) * *std::max_element(row, row + h.keys);
      for (int64_t j = 0; j < h.keys; ++j) weights[i * h.keys + j] *= amplification;
    }
    return Multiply(weights.data(), h.queries, h.keys, absolute.V(head), h.value_depth, h.value_depth, 1);
  });
}

}  // namespace attune::reference

// Cumulative sums and products along an axis, and the largest or smallest elements along it.
#include <algorithm>
#include <numeric>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// Whether element a of a line comes before b: the larger (or smaller) first, and the earlier of equal ones.
// NaN counts as larger than every number, so that the order is total.
template <typename Wide>
bool ComesFirst(const Wide* line, int64_t stride, int64_t a, int64_t b, bool largest) {
  const Wide x = line[a * stride];
  const Wide y = line[b * stride];
  const bool x_above = IsNan(x) ? !IsNan(y) : x > y;
  const bool y_above = IsNan(y) ? !IsNan(x) : y > x;
  if (x_above == y_above) return a < b;
  return largest ? x_above : y_above;
}

}  // namespace

Outputs EvaluateScan(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const AxisView view(x.shape(), node.attrs().Int("axis"));
  const bool product = node.op() == Op::kCumProd;
  const bool exclusive = node.attrs().Bool("exclusive");
  const bool reverse = node.attrs().Bool("reverse");
  return WithRing(x.dtype(), [&](auto ring) {
    using T = decltype(ring);
    std::vector<T> values = Load<T>(x);
    for (int64_t i = 0; i < view.outer * view.inner; ++i) {
      T* line = values.data() + i / view.inner * view.size * view.inner + i % view.inner;
      T sum = product ? 1 : 0;
      for (int64_t k = 0; k < view.size; ++k) {
        T& element = line[(reverse ? view.size - 1 - k : k) * view.inner];
        const T next = product ? WrappingMul(sum, element) : WrappingAdd(sum, element);
        element = exclusive ? sum : next;
        sum = next;
      }
    }
    return One(Store(values, x.dtype(), x.shape()));
  });
}

// The result is always sorted: if not `sorted`, any order is correct.
Outputs EvaluateTopK(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const int64_t axis = node.attrs().Int("axis");
  const int64_t k = node.attrs().Int("k");
  const bool largest = node.attrs().Int("largest", 1) != 0;
  const AxisView view(x.shape(), axis);
  Shape shape = x.shape();
  shape[axis] = k;
  ASSIGN_OR_RETURN(Tensor positions, NewTensor(DType::kI64, shape));
  return WithWide(x.dtype(), [&](auto wide) -> Outputs {
    using Wide = decltype(wide);
    const std::vector<Wide> values = Load<Wide>(x);
    std::vector<Wide> top(static_cast<size_t>(positions.num_elements()));
    std::vector<int64_t> order(static_cast<size_t>(view.size));
    for (int64_t i = 0; i < view.outer * view.inner; ++i) {
      const int64_t outer = i / view.inner;
      const int64_t inner = i % view.inner;
      const Wide* line = values.data() + outer * view.size * view.inner + inner;
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + k, order.end(),
                        [&](int64_t a, int64_t b) { return ComesFirst(line, view.inner, a, b, largest); });
      for (int64_t rank = 0; rank < k; ++rank) {
        const int64_t at = (outer * k + rank) * view.inner + inner;
        top[at] = line[order[rank] * view.inner];
        positions.as_mutable<int64_t>()[at] = order[rank];
      }
    }
    ASSIGN_OR_RETURN(Tensor kept, Store(top, x.dtype(), shape));
    return std::vector<Tensor>{std::move(kept), std::move(positions)};
  });
}

}  // namespace attune::reference

// Reductions over axes, and the index of the extremum along one.
#include <algorithm>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/magnitude.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

Shape ReducedShape(const Shape& shape, const Ints& axes, bool keepdims) {
  Shape out;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(axis)) != axes.end();
    if (!reduced) {
      out.push_back(shape[axis]);
    } else if (keepdims) {
      out.push_back(1);
    }
  }
  return out;
}

// Folds `values` of `shape` over `axes`, in row-major order, starting from `start`.
template <typename Wide, typename F>
std::vector<Wide> Fold(const std::vector<Wide>& values, const Shape& shape, const Ints& axes, Wide start,
                       F f) {
  // The stride of the output along each axis of the input; zero for a reduced one.
  const Shape kept = ReducedShape(shape, axes, true);
  Shape strides = RowMajorStrides(kept);
  for (const int64_t axis : axes) strides[axis] = 0;
  std::vector<Wide> out(static_cast<size_t>(CountElements(kept)), start);
  size_t at = 0;
  ForEachIndex(shape, [&](const Shape& index) {
    int64_t target = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) target += index[axis] * strides[axis];
    out[target] = f(out[target], values[at++]);
  });
  return out;
}

template <typename Wide>
std::vector<Wide> Reduce(Op op, const Tensor& x, const Ints& axes) {
  const std::vector<Wide> values = Load<Wide>(x);
  switch (op) {
    case Op::kReduceProd:
      return Fold(values, x.shape(), axes, Wide{1}, WrappingMul<Wide>);
    case Op::kReduceMax:
      return Fold(values, x.shape(), axes, LowestOf<Wide>(x.dtype()), Maximum<Wide>);
    case Op::kReduceMin:
      return Fold(values, x.shape(), axes, HighestOf<Wide>(x.dtype()), Minimum<Wide>);
    default:
      break;
  }
  std::vector<Wide> sums = Fold(values, x.shape(), axes, Wide{0}, WrappingAdd<Wide>);
  if (op == Op::kReduceMean) {
    Wide count = 1;
    for (const int64_t axis : axes) count *= static_cast<Wide>(x.shape()[axis]);
    for (Wide& sum : sums) sum = std::is_integral_v<Wide> && count == 0 ? 0 : sum / count;
  }
  return sums;
}

}  // namespace

Outputs EvaluateReduce(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const Ints& axes = node.attrs().IntList("axes");
  Shape shape = ReducedShape(x.shape(), axes, node.attrs().Int("keepdims", 1) != 0);
  return WithWide(x.dtype(), [&](auto wide) {
    return One(Store(Reduce<decltype(wide)>(node.op(), x, axes), x.dtype(), std::move(shape)));
  });
}

absl::StatusOr<Tensor> ReduceSumMagnitude(const Node& node, std::span<const Tensor> inputs) {
  const Tensor& x = inputs[0];
  const Ints& axes = node.attrs().IntList("axes");
  const std::vector<double> sums = Fold(Load<double>(x), x.shape(), axes, 0.0,
                                        [](double sum, double value) { return sum + std::fabs(value); });
  return Store(sums, DType::kF64, ReducedShape(x.shape(), axes, node.attrs().Int("keepdims", 1) != 0));
}

Outputs EvaluateArgReduce(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const int64_t axis = node.attrs().Int("axis");
  const bool largest = node.op() == Op::kArgMax;
  const bool last = node.attrs().Bool("select_last");
  const AxisView view(x.shape(), axis);
  ASSIGN_OR_RETURN(Tensor out, NewTensor(DType::kI64, ReducedShape(x.shape(), {axis},
                                                                   node.attrs().Int("keepdims", 1) != 0)));
  WithWide(x.dtype(), [&](auto wide) {
    using Wide = decltype(wide);
    const std::vector<Wide> values = Load<Wide>(x);
    const auto to = out.as_mutable<int64_t>();
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      const Wide* line = values.data() + i / view.inner * view.size * view.inner + i % view.inner;
      int64_t best = 0;
      for (int64_t k = 1; k < view.size; ++k) {
        const Wide value = line[k * view.inner];
        const Wide champion = line[best * view.inner];
        if ((largest ? value > champion : value < champion) || (last && value == champion)) best = k;
      }
      to[i] = best;
    }
  });
  return One(std::move(out));
}

}  // namespace attune::reference

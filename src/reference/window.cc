// Pools, local response normalization, and the inverse of im2col.
#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"
#include "reference/window_geometry.h"

namespace attune::reference {
namespace {

// A pool's geometry over the spatial axes of x [N,C,D1…].
WindowGeometry ReadPool(const Node& node, const Tensor& x) {
  return ReadWindow(node.attrs(), Shape(x.shape().begin() + 2, x.shape().end()),
                    node.attrs().IntList("kernel"));
}

Shape PooledShape(const Tensor& x, const WindowGeometry& window) {
  Shape shape = {x.shape()[0], x.shape()[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  return shape;
}

// The flat positions within the input that the window at `index` covers, in row-major order.
std::vector<int64_t> CoveredPositions(const WindowGeometry& window, const Shape& index) {
  std::vector<int64_t> covered = {0};
  for (int axis = 0; axis < window.rank(); ++axis) {
    const int64_t start = window.Position(axis, index[axis], 0);
    const int64_t dilation = window.dilations[axis];
    const int64_t first = start < 0 ? CeilDiv(-start, dilation) : 0;  // the first tap inside
    std::vector<int64_t> extended;
    for (const int64_t prefix : covered) {
      for (int64_t k = first; k < window.kernel[axis] && start + k * dilation < window.in[axis]; ++k) {
        extended.push_back(prefix * window.in[axis] + start + k * dilation);
      }
    }
    covered = std::move(extended);
  }
  return covered;
}

// The number of taps of the window at `index` in the input or its padding, without those beyond, which
// ceil_mode adds.
int64_t CountWithPadding(const WindowGeometry& window, const Shape& index) {
  int64_t count = 1;
  for (int axis = 0; axis < window.rank(); ++axis) {
    const int64_t room = window.in[axis] + window.ends[axis] - window.Position(axis, index[axis], 0);
    count *= std::min(window.kernel[axis], CeilDiv(room, window.dilations[axis]));
  }
  return count;
}

// Calls pool(index, covered, in, out) for each window of each plane of x: the window's index, the positions
// within the plane that it covers, where the plane begins in x, and the window's element of the output.
template <typename Pool>
void ForEachWindow(const Tensor& x, const WindowGeometry& window, const Pool& pool) {
  const int64_t planes = x.shape()[0] * x.shape()[1];
  const int64_t in_size = CountElements(window.in);
  const int64_t out_size = CountElements(window.out);
  int64_t at = 0;
  ForEachIndex(window.out, [&](const Shape& index) {
    const std::vector<int64_t> covered = CoveredPositions(window, index);
    for (int64_t plane = 0; plane < planes; ++plane)
      pool(index, covered, plane * in_size, plane * out_size + at);
    ++at;
  });
}

}  // namespace

Outputs EvaluateMaxPool(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const WindowGeometry window = ReadPool(node, x);
  const Shape shape = PooledShape(x, window);
  ASSIGN_OR_RETURN(Tensor positions, NewTensor(DType::kI64, shape));
  return WithWide(x.dtype(), [&](auto wide) -> Outputs {
    using Wide = decltype(wide);
    const std::vector<Wide> values = Load<Wide>(x);
    std::vector<Wide> maxima(static_cast<size_t>(positions.num_elements()));
    ForEachWindow(x, window, [&](const Shape&, const auto& covered, int64_t in, int64_t out) {
      Wide best = LowestOf<Wide>(x.dtype());
      int64_t best_position = covered.empty() ? 0 : in + covered[0];
      for (const int64_t position : covered) {
        const Wide value = values[in + position];
        if (!(value > best) && !(IsNan(value) && !IsNan(best))) continue;
        best = value;
        best_position = in + position;
      }
      maxima[out] = best;
      positions.as_mutable<int64_t>()[out] = best_position;
    });
    ASSIGN_OR_RETURN(Tensor pooled, Store(maxima, x.dtype(), shape));
    std::vector<Tensor> outputs = {std::move(pooled)};
    if (node.num_outputs() > 1) outputs.push_back(std::move(positions));
    return outputs;
  });
}

Outputs EvaluateAvgPool(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const WindowGeometry window = ReadPool(node, x);
  const Shape shape = PooledShape(x, window);
  RETURN_IF_ERROR(NewTensor(DType::kF64, shape).status());
  const bool include_pad = node.attrs().Bool("count_include_pad");
  const std::vector<double> values = Load<double>(x);
  std::vector<double> means(static_cast<size_t>(CountElements(shape)));
  ForEachWindow(x, window, [&](const Shape& index, const auto& covered, int64_t in, int64_t out) {
    const auto count = static_cast<double>(include_pad ? CountWithPadding(window, index)
                                                       : static_cast<int64_t>(covered.size()));
    double sum = 0;
    for (const int64_t position : covered) sum += values[in + position];
    means[out] = covered.empty() ? 0 : sum / count;
  });
  return One(Store(means, x.dtype(), shape));
}

// x / (bias + alpha / size Σ x²)^beta, where the sum is over `size` channels around the element's own; for
// an even size, one more after it than before.
Outputs EvaluateLrn(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const int64_t size = node.attrs().Int("size");
  const double factor = node.attrs().Float("alpha") / static_cast<double>(size);
  const double beta = node.attrs().Float("beta");
  const double bias = node.attrs().Float("bias");
  const AxisView view(x.shape(), 1);
  const std::vector<double> values = Load<double>(x);
  std::vector<double> out(values.size());
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t channel = i / view.inner % view.size;
    const int64_t first = std::max<int64_t>(0, channel - (size - 1) / 2);
    const int64_t last = std::min(view.size - 1, channel + size / 2);
    double sum = 0;
    for (int64_t c = first; c <= last; ++c) {
      const double value = values[i + (c - channel) * view.inner];
      sum += value * value;
    }
    out[i] = values[i] / std::pow(bias + factor * sum, beta);
  }
  return One(Store(out, x.dtype(), x.shape()));
}

// x [N, C taps, windows] to [N, C, image…]: overlapping windows are summed.
Outputs EvaluateCol2Im(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const WindowGeometry window =
      ReadWindow(node.attrs(), node.attrs().IntList("image"), node.attrs().IntList("block"));
  const int64_t taps = CountElements(window.kernel);
  Shape shape = {x.shape()[0], x.shape()[1] / taps};
  shape.insert(shape.end(), window.in.begin(), window.in.end());
  ASSIGN_OR_RETURN(Tensor empty, NewTensor(x.dtype(), shape));
  if (empty.num_elements() == 0) return One(std::move(empty));
  const TapTable table(window, /*transposed=*/false);
  const int64_t columns = CountElements(window.out);
  const int64_t image = CountElements(window.in);
  std::vector<int64_t> targets(static_cast<size_t>(columns));
  return WithRing(x.dtype(), [&](auto ring) {
    using T = decltype(ring);
    const std::vector<T> values = Load<T>(x);
    std::vector<T> out(static_cast<size_t>(CountElements(shape)), T{0});
    for (int64_t tap = 0; tap < taps; ++tap) {
      table.Sources(tap, 0, columns, targets.data());
      for (int64_t plane = 0; plane < shape[0] * shape[1]; ++plane) {
        for (int64_t column = 0; column < columns; ++column) {
          if (targets[column] == TapTable::kOutside) continue;
          out[plane * image + targets[column]] += values[(plane * taps + tap) * columns + column];
        }
      }
    }
    return One(Store(out, x.dtype(), shape));
  });
}

}  // namespace attune::reference

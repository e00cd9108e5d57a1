// Deformable convolution (Dai et al. 2017; with a mask, Zhu et al. 2019) as in ONNX's DeformConv: each tap
// reads the input at its own position, bilinearly, with zeros outside.
#include <cmath>

#include "base/checked.h"
#include "base/parallel.h"
#include "base/status.h"
#include "reference/kernels.h"
#include "reference/magnitude.h"
#include "reference/panel.h"
#include "reference/values.h"
#include "reference/window_geometry.h"

namespace attune::reference {
namespace {

struct DeformableConvolution {
  WindowGeometry window;
  int64_t batch, group, channels, out_channels, offset_group;
  std::vector<double> x;        // [batch, channels, H, W]
  std::vector<double> weights;  // [out_channels, channels / group, kernel…]
  std::vector<double> offsets;  // [batch, offset_group, kernel…, 2 (y, x), out…]
  std::vector<double> mask;     // [batch, offset_group, kernel…, out…], or empty: ones
  std::vector<double> bias;     // [out_channels], or empty
};

DeformableConvolution Read(const Node& node, Inputs inputs) {
  const Shape& x = inputs[0].shape();
  const Shape& w = inputs[2].shape();
  DeformableConvolution conv{.window = ReadWindow(node.attrs(), {x[2], x[3]}, {w[2], w[3]}),
                             .batch = x[0],
                             .group = node.attrs().Int("group", 1),
                             .channels = x[1],
                             .out_channels = w[0],
                             .offset_group = node.attrs().Int("offset_group", 1),
                             .x = Load<double>(inputs[0]),
                             .weights = Load<double>(inputs[2]),
                             .offsets = Load<double>(inputs[1]),
                             .mask = {},
                             .bias = {}};
  if (IsPresent(inputs, 3)) conv.bias = Load<double>(inputs[3]);
  if (IsPresent(inputs, 4)) conv.mask = Load<double>(inputs[4]);
  return conv;
}

// Interpolates `plane` [height, width] at (y, x), with zeros outside.
double Bilinear(const double* plane, int64_t height, int64_t width, double y, double x) {
  if (!(y > -1 && y < static_cast<double>(height) && x > -1 && x < static_cast<double>(width))) return 0;
  const double top = std::floor(y);
  const double left = std::floor(x);
  double sum = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const int64_t row = static_cast<int64_t>(top) + corner / 2;
    const int64_t column = static_cast<int64_t>(left) + corner % 2;
    if (row < 0 || row >= height || column < 0 || column >= width) continue;
    const double vertical = corner / 2 == 0 ? 1 - (y - top) : y - top;
    const double horizontal = corner % 2 == 0 ? 1 - (x - left) : x - left;
    sum += vertical * horizontal * plane[row * width + column];
  }
  return sum;
}

// The value that output position p of image n reads through tap k of channel c.
double Sample(const DeformableConvolution& conv, int64_t n, int64_t c, int64_t k, int64_t p) {
  const WindowGeometry& window = conv.window;
  const int64_t positions = CountElements(window.out);
  const int64_t taps = CountElements(window.kernel);
  const int64_t tap = (n * conv.offset_group + c / (conv.channels / conv.offset_group)) * taps + k;
  const double y = static_cast<double>(window.Position(0, p / window.out[1], k / window.kernel[1])) +
                   conv.offsets[(tap * 2) * positions + p];
  const double x = static_cast<double>(window.Position(1, p % window.out[1], k % window.kernel[1])) +
                   conv.offsets[(tap * 2 + 1) * positions + p];
  const double* plane = conv.x.data() + (n * conv.channels + c) * window.in[0] * window.in[1];
  const double value = Bilinear(plane, window.in[0], window.in[1], y, x);
  return conv.mask.empty() ? value : value * conv.mask[tap * positions + p];
}

absl::StatusOr<Tensor> Convolve(const DeformableConvolution& conv, DType dtype) {
  const Shape shape = {conv.batch, conv.out_channels, conv.window.out[0], conv.window.out[1]};
  RETURN_IF_ERROR(NewTensor(DType::kF64, shape).status());
  const int64_t positions = CountElements(conv.window.out);
  const int64_t taps = CountElements(conv.window.kernel);
  const int64_t panels = CeilDiv(positions, kPanelColumns);
  const int64_t in_channels = conv.channels / conv.group;
  const int64_t rows = conv.out_channels / conv.group;
  const int64_t depth = in_channels * taps;
  std::vector<double> out(static_cast<size_t>(CountElements(shape)), 0.0);
  for (size_t i = 0; i < out.size() && !conv.bias.empty(); ++i) {
    out[i] = conv.bias[i / positions % conv.bias.size()];
  }
  ParallelFor(conv.batch * conv.group * panels, [&](int64_t task) {
    const int64_t first = task % panels * kPanelColumns;
    const int64_t g = task / panels % conv.group;
    const int64_t n = task / panels / conv.group;
    const int64_t columns = std::min(kPanelColumns, positions - first);
    std::vector<double> panel(static_cast<size_t>(depth * kPanelColumns), 0.0);
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t p = 0; p < columns; ++p) {
        panel[k * kPanelColumns + p] = Sample(conv, n, g * in_channels + k / taps, k % taps, first + p);
      }
    }
    double* to = out.data() + (n * conv.out_channels + g * rows) * positions + first;
    MultiplyPanel(conv.weights.data() + g * rows * depth, rows, depth, panel.data(), columns, to, positions);
  });
  return Store(out, dtype, shape);
}

}  // namespace

Outputs EvaluateDeformConv(const Node& node, Inputs inputs) {
  return One(Convolve(Read(node, inputs), inputs[0].dtype()));
}

absl::StatusOr<Tensor> DeformConvMagnitude(const Node& node, std::span<const Tensor> inputs) {
  DeformableConvolution conv = Read(node, inputs);
  for (std::vector<double>* values : {&conv.x, &conv.weights, &conv.mask, &conv.bias}) {
    for (double& value : *values) value = std::fabs(value);
  }
  return Convolve(conv, DType::kF64);
}

}  // namespace attune::reference

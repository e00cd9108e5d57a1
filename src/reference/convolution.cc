// Convolutions. One routine serves all: it gathers the patches for kPanelColumns output positions into a
// panel and multiplies them by the weights. A transposed convolution only differs in which input position a
// tap reads, an integer one only in the zero points that are subtracted first.
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

// All numbers that a convolution multiplies: integers below 2^53 are exact as doubles.
struct Convolution {
  WindowGeometry window;
  bool transposed = false;
  int64_t batch = 0;
  int64_t group = 1;
  int64_t in_channels = 0;      // per group
  int64_t out_channels = 0;     // per group
  std::vector<double> x;        // [batch, group, in_channels, in…]
  std::vector<double> weights;  // [group, out_channels, in_channels, kernel…]
  std::vector<double> bias;     // [group, out_channels], or empty
};

Shape Spatial(const Shape& shape) { return Shape(shape.begin() + 2, shape.end()); }

// Reorders the weights [group in_channels, out_channels, kernel…] of a transposed convolution to those of a
// plain one.
std::vector<double> SwapChannels(const std::vector<double>& w, int64_t group, int64_t in, int64_t out) {
  std::vector<double> swapped(w.size());
  const int64_t taps = in * out == 0 ? 0 : static_cast<int64_t>(w.size()) / (group * in * out);
  for (int64_t g = 0; g < group; ++g) {
    for (int64_t i = 0; i < in; ++i) {
      for (int64_t o = 0; o < out; ++o) {
        const double* from = w.data() + ((g * in + i) * out + o) * taps;
        std::copy(from, from + taps, swapped.data() + ((g * out + o) * in + i) * taps);
      }
    }
  }
  return swapped;
}

Convolution ReadConvolution(const Node& node, Inputs inputs) {
  const Shape& x = inputs[0].shape();
  const Shape& w = inputs[1].shape();
  Convolution conv;
  conv.transposed = node.op() == Op::kConvTranspose;
  conv.window = conv.transposed ? ReadTransposedWindow(node.attrs(), Spatial(x), Spatial(w))
                                : ReadWindow(node.attrs(), Spatial(x), Spatial(w));
  conv.batch = x[0];
  conv.group = node.attrs().Int("group", 1);
  conv.in_channels = x[1] / conv.group;
  conv.out_channels = conv.transposed ? w[1] : w[0] / conv.group;
  conv.x = Load<double>(inputs[0]);
  conv.weights = Load<double>(inputs[1]);
  if (conv.transposed) {
    conv.weights = SwapChannels(conv.weights, conv.group, conv.in_channels, conv.out_channels);
  }
  return conv;
}

// The patches for output positions [first, first + columns): [in_channels taps, kPanelColumns].
std::vector<double> GatherPatches(const TapTable& table, const double* x, int64_t channels, int64_t positions,
                                  int64_t taps, int64_t first, int64_t columns) {
  std::vector<double> panel(static_cast<size_t>(channels * taps * kPanelColumns), 0.0);
  int64_t sources[kPanelColumns];
  for (int64_t tap = 0; tap < taps; ++tap) {
    table.Sources(tap, first, columns, sources);
    for (int64_t c = 0; c < channels; ++c) {
      double* to = panel.data() + (c * taps + tap) * kPanelColumns;
      const double* from = x + c * positions;
      for (int64_t p = 0; p < columns; ++p) {
        if (sources[p] != TapTable::kOutside) to[p] = from[sources[p]];
      }
    }
  }
  return panel;
}

// The output [batch, group, out_channels, out…].
std::vector<double> Convolve(const Convolution& conv) {
  constexpr int64_t kRowsPerTask = 128;
  const int64_t in_positions = CountElements(conv.window.in);
  const int64_t out_positions = CountElements(conv.window.out);
  const int64_t taps = CountElements(conv.window.kernel);
  const int64_t depth = conv.in_channels * taps;
  const int64_t panels = CeilDiv(out_positions, kPanelColumns);
  const int64_t row_blocks = CeilDiv(conv.out_channels, kRowsPerTask);
  std::vector<double> out(static_cast<size_t>(conv.batch * conv.group * conv.out_channels * out_positions),
                          0.0);
  for (size_t i = 0; i < out.size() && !conv.bias.empty(); ++i) {
    out[i] = conv.bias[i / out_positions % conv.bias.size()];
  }
  if (out.empty() || depth == 0) return out;
  const TapTable table(conv.window, conv.transposed);

  ParallelFor(conv.batch * conv.group * panels * row_blocks, [&](int64_t task) {
    const int64_t first_row = task % row_blocks * kRowsPerTask;
    const int64_t first = task / row_blocks % panels * kPanelColumns;
    const int64_t image = task / row_blocks / panels;  // batch and group
    const int64_t g = image % conv.group;
    const int64_t rows = std::min(kRowsPerTask, conv.out_channels - first_row);
    const int64_t columns = std::min(kPanelColumns, out_positions - first);
    const std::vector<double> panel =
        GatherPatches(table, conv.x.data() + image * conv.in_channels * in_positions, conv.in_channels,
                      in_positions, taps, first, columns);
    const int64_t channel = g * conv.out_channels + first_row;
    double* to = out.data() + (image * conv.out_channels + first_row) * out_positions + first;
    MultiplyPanel(conv.weights.data() + channel * depth, rows, depth, panel.data(), columns, to,
                  out_positions);
  });
  return out;
}

Shape OutputShape(const Convolution& conv) {
  Shape shape = {conv.batch, conv.group * conv.out_channels};
  shape.insert(shape.end(), conv.window.out.begin(), conv.window.out.end());
  return shape;
}

// Refuses a result that is too large before allocating its memory.
absl::Status CheckOutput(const Convolution& conv) {
  return NewTensor(DType::kF64, OutputShape(conv)).status();
}

void TakeAbsolute(std::vector<double>* values) {
  for (double& value : *values) value = std::fabs(value);
}

// Subtracts the zero point: a single one, or one for each of the equal leading parts of `values`.
void SubtractZero(const std::vector<double>& zeros, std::vector<double>* values) {
  if (values->empty()) return;
  const size_t part = values->size() / zeros.size();
  for (size_t i = 0; i < values->size(); ++i) (*values)[i] -= zeros[i / part];
}

}  // namespace

Outputs EvaluateConv(const Node& node, Inputs inputs) {
  Convolution conv = ReadConvolution(node, inputs);
  RETURN_IF_ERROR(CheckOutput(conv));
  if (IsPresent(inputs, 2)) conv.bias = Load<double>(inputs[2]);
  return One(Store(Convolve(conv), SumType(node, inputs), OutputShape(conv)));
}

Outputs EvaluateConvTranspose(const Node& node, Inputs inputs) { return EvaluateConv(node, inputs); }

Outputs EvaluateConvInteger(const Node& node, Inputs inputs) {
  Convolution conv = ReadConvolution(node, inputs);
  RETURN_IF_ERROR(CheckOutput(conv));
  if (IsPresent(inputs, 2)) SubtractZero(Load<double>(inputs[2]), &conv.x);
  if (IsPresent(inputs, 3)) SubtractZero(Load<double>(inputs[3]), &conv.weights);
  const std::vector<double> sums = Convolve(conv);
  const std::vector<int64_t> exact(sums.begin(), sums.end());  // makes Store wrap
  return One(Store(exact, DType::kI32, OutputShape(conv)));
}

absl::StatusOr<Tensor> ConvMagnitude(const Node& node, std::span<const Tensor> inputs) {
  Convolution conv = ReadConvolution(node, inputs);
  RETURN_IF_ERROR(CheckOutput(conv));
  if (IsPresent(inputs, 2)) conv.bias = Load<double>(inputs[2]);
  TakeAbsolute(&conv.x);
  TakeAbsolute(&conv.weights);
  TakeAbsolute(&conv.bias);
  return Store(Convolve(conv), DType::kF64, OutputShape(conv));
}

}  // namespace attune::reference

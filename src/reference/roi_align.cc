// RoiAlign (He et al.: Mask R-CNN, 2017) as defined by ONNX.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// The four corners around a sampling point.
struct Corners {
  int64_t positions[4];
  double weights[4];
};

// The corners of (y, x) in a plane [height, width]; all weights are zero if it is more than a pixel
// outside.
Corners CornersAt(double y, double x, int64_t height, int64_t width) {
  Corners corners{};
  if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width)))
    return corners;
  y = std::clamp(y, 0.0, static_cast<double>(height - 1));
  x = std::clamp(x, 0.0, static_cast<double>(width - 1));
  const auto top = static_cast<int64_t>(y);
  const auto left = static_cast<int64_t>(x);
  const int64_t bottom = std::min(top + 1, height - 1);
  const int64_t right = std::min(left + 1, width - 1);
  const double down = y - static_cast<double>(top);
  const double across = x - static_cast<double>(left);
  return {{top * width + left, top * width + right, bottom * width + left, bottom * width + right},
          {(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across}};
}

// The sampling of one region's bins along one axis.
struct BinAxis {
  double start;
  double bin;
  int64_t samples;

  double Position(int64_t index, int64_t sample) const {
    return start +
           (static_cast<double>(index) + (static_cast<double>(sample) + 0.5) / static_cast<double>(samples)) *
               bin;
  }
};

BinAxis ReadBins(const Node& node, double low, double high, int64_t bins) {
  const bool half_pixel = node.attrs().String("coordinate_mode", "half_pixel") == "half_pixel";
  const double scale = node.attrs().Float("spatial_scale", 1);
  const double offset = half_pixel ? 0.5 : 0.0;
  const double start = low * scale - offset;
  double length = high * scale - offset - start;
  if (!half_pixel) length = std::fmax(length, 1);
  const double bin = length / static_cast<double>(bins);
  const int64_t ratio = node.attrs().Int("sampling_ratio", 0);
  return {start, bin, ratio > 0 ? ratio : ConvertElement<int64_t>(std::ceil(bin))};
}

// Pools one bin of one channel. As in ONNX, the maximum is over the weighted corners, not over their sums.
double Pool(const std::vector<Corners>& samples, const double* plane, bool average) {
  double sum = 0;
  double largest = 0;
  for (size_t s = 0; s < samples.size(); ++s) {
    for (int i = 0; i < 4; ++i) {
      const double value = samples[s].weights[i] * plane[samples[s].positions[i]];
      sum += value;
      largest = s == 0 && i == 0 ? value : Maximum(largest, value);
    }
  }
  if (!average) return largest;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

}  // namespace

Outputs EvaluateRoiAlign(const Node& node, Inputs inputs) {
  constexpr int64_t kMaxSamples = int64_t{1} << 24;  // per bin
  const Shape& in = inputs[0].shape();
  const int64_t rows = node.attrs().Int("height");
  const int64_t columns = node.attrs().Int("width");
  const bool average = node.attrs().String("mode", "avg") == "avg";
  const int64_t regions = inputs[1].shape()[0];
  const Shape shape = {regions, in[1], rows, columns};
  for (const int64_t n : inputs[2].ToInts()) {
    if (n < 0 || n >= in[0]) return InvalidInput("batch index ", n, " of ", in[0], " images");
  }
  ASSIGN_OR_RETURN(Tensor empty, NewTensor(DType::kF64, shape));
  if (empty.num_elements() == 0 || inputs[0].num_elements() == 0) {
    return One(NewTensor(inputs[0].dtype(), shape));
  }
  const std::vector<double> x = Load<double>(inputs[0]);
  const std::vector<double> rois = Load<double>(inputs[1]);
  std::vector<double> out(static_cast<size_t>(CountElements(shape)));
  for (int64_t r = 0; r < regions; ++r) {
    const int64_t n = inputs[2].ToInt(r);
    const double* roi = rois.data() + r * 4;  // x1, y1, x2, y2
    const BinAxis vertical = ReadBins(node, roi[1], roi[3], rows);
    const BinAxis horizontal = ReadBins(node, roi[0], roi[2], columns);
    if (vertical.samples > kMaxSamples ||
        horizontal.samples > kMaxSamples / std::max<int64_t>(1, vertical.samples)) {
      return InvalidInput("region ", r, " takes ", vertical.samples, " x ", horizontal.samples,
                          " samples a bin, at most ", kMaxSamples, " are supported");
    }
    for (int64_t bin = 0; bin < rows * columns; ++bin) {
      std::vector<Corners> samples;
      for (int64_t i = 0; i < vertical.samples; ++i) {
        for (int64_t j = 0; j < horizontal.samples; ++j) {
          samples.push_back(CornersAt(vertical.Position(bin / columns, i),
                                      horizontal.Position(bin % columns, j), in[2], in[3]));
        }
      }
      for (int64_t c = 0; c < in[1]; ++c) {
        out[(r * in[1] + c) * rows * columns + bin] =
            Pool(samples, x.data() + (n * in[1] + c) * in[2] * in[3], average);
      }
    }
  }
  return One(Store(out, inputs[0].dtype(), shape));
}

}  // namespace attune::reference

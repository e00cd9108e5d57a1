// Problem: labels and detections are compared with those of pipelines that resize with PIL, so the pixels
// must be the same. Idea: use PIL's own arithmetic: a separable filter, first along rows, then along
// columns, with fixed-point weights of 22 bits, and rounding to 8 bits between the passes. Cost: reads
// every input pixel about twice, times the overlap of the filter.
#include <algorithm>
#include <cmath>

#include "io/image.h"

namespace attune {
namespace {

constexpr int kPrecisionBits = 22;

// The weights of the input pixels first, first + 1, … for one output pixel; their sum is about 2²².
struct Window {
  int64_t first = 0;
  std::vector<int32_t> weights;
};

std::vector<Window> TriangleWindows(int64_t in_size, int64_t out_size) {
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double support = std::max(scale, 1.0);
  std::vector<Window> windows(static_cast<size_t>(out_size));
  std::vector<double> weights;
  for (int64_t i = 0; i < out_size; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const double from = center - support + 0.5, to = center + support + 0.5;
    const int64_t first = std::max<int64_t>(static_cast<int64_t>(from), 0);
    const int64_t end = std::min(static_cast<int64_t>(to), in_size);
    double sum = 0;
    weights.clear();
    for (int64_t x = first; x < end; ++x) {
      const double distance = std::abs((static_cast<double>(x) - center + 0.5) / support);
      weights.push_back(std::max(1.0 - distance, 0.0));
      sum += weights.back();
    }
    Window& window = windows[static_cast<size_t>(i)];
    window.first = first;
    for (double weight : weights) {
      const double scaled = weight / sum * (1 << kPrecisionBits) + 0.5;
      window.weights.push_back(static_cast<int32_t>(scaled));
    }
  }
  return windows;
}

// One output value from the samples at `in`, which are `step` bytes apart.
uint8_t Blend(const Window& window, const uint8_t* in, int64_t step) {
  int32_t sum = 1 << (kPrecisionBits - 1);
  for (const int32_t weight : window.weights) {
    sum += weight * *in;
    in += step;
  }
  return static_cast<uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
}

Image ResizeRows(const Image& image, int64_t width) {
  Image out = {width, image.height, std::vector<uint8_t>(static_cast<size_t>(width * image.height * 3))};
  const std::vector<Window> windows = TriangleWindows(image.width, width);
  uint8_t* target = out.rgb.data();
  for (int64_t y = 0; y < image.height; ++y) {
    const uint8_t* row = image.rgb.data() + y * image.width * 3;
    for (const Window& window : windows) {
      for (int c = 0; c < 3; ++c) *target++ = Blend(window, row + window.first * 3 + c, 3);
    }
  }
  return out;
}

Image ResizeColumns(const Image& image, int64_t height) {
  const int64_t row_bytes = image.width * 3;
  Image out = {image.width, height, std::vector<uint8_t>(static_cast<size_t>(row_bytes * height))};
  uint8_t* target = out.rgb.data();
  for (const Window& window : TriangleWindows(image.height, height)) {
    const uint8_t* column = image.rgb.data() + window.first * row_bytes;
    for (int64_t x = 0; x < row_bytes; ++x) *target++ = Blend(window, column + x, row_bytes);
  }
  return out;
}

}  // namespace

Image ResizeBilinear(const Image& image, int64_t width, int64_t height) {
  // A pass that does not change the size is skipped, since it would change nothing.
  if (width == image.width) return height == image.height ? image : ResizeColumns(image, height);
  Image wide = ResizeRows(image, width);
  return height == image.height ? wide : ResizeColumns(wide, height);
}

}  // namespace attune

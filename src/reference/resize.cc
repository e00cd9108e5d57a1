// Resize as defined by ONNX. Interpolation is separable: one axis after another, each output is a weighted
// sum of the elements near its coordinate.
#include <algorithm>
#include <cmath>

#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

// One axis to resize.
struct ResizeAxis {
  int64_t in;
  int64_t out;
  double scale;
  double roi_start;
  double roi_end;
};

// The position in the input of output coordinate `x`.
double SourceCoordinate(const std::string& mode, const ResizeAxis& axis, double x) {
  const auto in = static_cast<double>(axis.in);
  const auto out = static_cast<double>(axis.out);
  // If the scale follows from the sizes, compute with the sizes, without rounding: then a position in the
  // middle between two elements is exactly there.
  const bool follows = axis.scale == out / in;
  // The length of the output before it was rounded down to an integer: a product in f32, as importers have
  // computed it.
  const double length = follows ? out : static_cast<float>(axis.scale * in);
  const auto unscaled = [&](double place) { return follows ? place * in / out : place / axis.scale; };
  const double half_pixel = unscaled(x + 0.5) - 0.5;
  if (mode == "align_corners") return length == 1 ? 0 : x * (in - 1) / (length - 1);
  if (mode == "asymmetric") return unscaled(x);
  if (mode == "pytorch_half_pixel") return axis.out == 1 ? 0 : half_pixel;
  if (mode == "tf_half_pixel_for_nn") return unscaled(x + 0.5);
  if (mode == "half_pixel_symmetric") return in / 2 * (1 - out / length) + half_pixel;
  if (mode == "tf_crop_and_resize") {
    const double extent = (axis.roi_end - axis.roi_start) * (in - 1);
    const double within = length == 1 ? extent / 2 : x * extent / (length - 1);
    return within + axis.roi_start * (in - 1);
  }
  return half_pixel;
}

double RoundNearest(const std::string& mode, double x) {
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

// Keys: Cubic convolution interpolation for digital image processing, 1981.
double CubicKernel(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double LinearKernel(double x) { return std::max(0.0, 1 - std::fabs(x)); }

struct Tap {
  int64_t index;
  double weight;
};

// The elements that contribute to the output at source coordinate x; their weights sum to 1. Some weights
// may be 0, which still gives NaN for elements that are NaN or infinite.
std::vector<Tap> TapsAt(const Node& node, const ResizeAxis& axis, double x) {
  const Attributes& attrs = node.attrs();
  const std::string mode = attrs.String("mode", "nearest");
  const auto clamp = [&](double position) {
    return static_cast<int64_t>(std::clamp(position, 0.0, static_cast<double>(axis.in - 1)));
  };
  if (mode == "nearest") {
    return {{clamp(RoundNearest(attrs.String("nearest_mode", "round_prefer_floor"), x)), 1.0}};
  }
  // Antialiasing stretches the kernel over all of the input that an output element represents.
  const double stretch = attrs.Bool("antialias") ? std::min(axis.scale, 1.0) : 1.0;
  const double support = (mode == "cubic" ? 2 : 1) / stretch;
  const double cubic_coefficient = attrs.Float("cubic_coeff", -0.75);
  const double base = std::ceil(x) - 1;  // x is in (base, base + 1]
  std::vector<Tap> taps;
  double sum = 0;
  for (double position = base + std::floor(-support) + 1; position < base + 1 - std::floor(-support);
       ++position) {
    const double distance = (position - x) * stretch;
    double weight = mode == "cubic" ? CubicKernel(distance, cubic_coefficient) : LinearKernel(distance);
    if (attrs.Bool("exclude_outside") && (position < 0 || position >= static_cast<double>(axis.in)))
      weight = 0;
    taps.push_back({clamp(position), weight});
    sum += weight;
  }
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

// Resizes `values` of `shape` along one axis.
std::vector<double> ResizeAlong(const Node& node, const std::vector<double>& values, const Shape& shape,
                                int axis, const ResizeAxis& sizes) {
  const AxisView view(shape, axis);
  const std::string mode = node.attrs().String("coordinate_mode", "half_pixel");
  const bool crop = mode == "tf_crop_and_resize";
  std::vector<double> out(static_cast<size_t>(view.outer * sizes.out * view.inner), 0.0);
  for (int64_t o = 0; o < sizes.out; ++o) {
    const double x = SourceCoordinate(mode, sizes, static_cast<double>(o));
    const bool outside = crop && !(x >= 0 && x <= static_cast<double>(sizes.in - 1));
    const std::vector<Tap> taps = outside ? std::vector<Tap>() : TapsAt(node, sizes, x);
    for (int64_t outer = 0; outer < view.outer; ++outer) {
      double* to = out.data() + (outer * sizes.out + o) * view.inner;
      if (outside) std::fill_n(to, view.inner, node.attrs().Float("extrapolation_value", 0));
      for (const Tap& tap : taps) {
        const double* from = values.data() + (outer * view.size + tap.index) * view.inner;
        for (int64_t i = 0; i < view.inner; ++i) to[i] += tap.weight * from[i];
      }
    }
  }
  return out;
}

}  // namespace

// Integers are rounded to the nearest, half to even.
Outputs EvaluateResize(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const Shape sizes = ResolveShape(node, inputs);
  const Floats& scales = node.attrs().FloatList("scales");
  const bool crop = node.attrs().String("coordinate_mode", "half_pixel") == "tf_crop_and_resize";
  const size_t rank = sizes.size();
  Shape shape = x.shape();
  std::vector<double> values = Load<double>(x);
  for (size_t axis = 0; axis < rank; ++axis) {
    ResizeAxis resize{shape[axis], sizes[axis], scales[axis], 0, 1};
    if (crop) {
      resize.roi_start = node.attrs().FloatList("roi")[axis];
      resize.roi_end = node.attrs().FloatList("roi")[rank + axis];
    }
    const bool unchanged =
        resize.in == resize.out && resize.scale == 1 && resize.roi_start == 0 && resize.roi_end == 1;
    if (unchanged) continue;
    Shape next = shape;
    next[axis] = sizes[axis];
    RETURN_IF_ERROR(NewTensor(DType::kF64, next).status());
    values = ResizeAlong(node, values, shape, static_cast<int>(axis), resize);
    shape = std::move(next);
  }
  if (!IsFloat(x.dtype())) {
    for (double& value : values) value = std::nearbyint(value);
  }
  return One(Store(values, x.dtype(), shape));
}

}  // namespace attune::reference

// GridSample as defined by ONNX, for any number of spatial axes.
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/status.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

enum class Padding { kZeros, kBorder, kReflection };

struct Tap {
  int64_t index;
  double weight;
};

// Mirrors x at low and high until it lies between them.
double Reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0 || !std::isfinite(x)) return low;
  const double distance = std::fmod(std::fabs(x - low), 2 * range);
  return distance <= range ? low + distance : high - (distance - range);
}

// One spatial axis of the input, and how positions outside it are read.
class SampledAxis {
 public:
  SampledAxis(int64_t size, Padding padding, bool align_corners)
      : size_(static_cast<double>(size)),
        padding_(padding),
        align_corners_(align_corners),
        low_(align_corners ? 0 : -0.5),
        high_(align_corners ? size_ - 1 : size_ - 0.5) {}

  // The taps for a grid coordinate; -1 and 1 are the ends of the axis.
  std::vector<Tap> Taps(const std::string& mode, double coordinate) const {
    const double raw =
        align_corners_ ? (coordinate + 1) / 2 * (size_ - 1) : ((coordinate + 1) * size_ - 1) / 2;
    if (std::isnan(raw)) return {};
    // In cubic mode, each tap is moved inside separately, and the weights follow from the original
    // position.
    const double x = mode == "cubic" ? raw : Wrap(mode == "nearest" ? std::nearbyint(raw) : raw);
    if (!std::isfinite(x)) return {};
    std::vector<Tap> taps;
    if (mode == "nearest") {
      Add(std::trunc(x), 1, &taps);
      return taps;
    }
    const double floor = std::floor(x);
    const double t = x - floor;
    if (mode == "linear") {
      Add(floor, 1 - t, &taps);
      Add(floor + 1, t, &taps);
      return taps;
    }
    for (int i = -1; i <= 2; ++i) Add(floor + i, Cubic(t - i), &taps);
    return taps;
  }

 private:
  static double Cubic(double x) {
    constexpr double kA = -0.75;
    x = std::fabs(x);
    return x <= 1 ? ((kA + 2) * x - (kA + 3)) * x * x + 1 : ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA;
  }

  // Moves a position outside the borders inside if the padding requires it.
  double Wrap(double x) const {
    if (x >= low_ && x <= high_) return x;
    if (padding_ == Padding::kBorder) return std::clamp(x, 0.0, size_ - 1);
    if (padding_ == Padding::kReflection) return Reflect(x, low_, high_);
    return x;
  }

  void Add(double position, double weight, std::vector<Tap>* taps) const {
    if (padding_ == Padding::kBorder) position = std::clamp(position, 0.0, size_ - 1);
    if (padding_ == Padding::kReflection && (position < low_ || position > high_)) {
      position = std::trunc(Reflect(position, low_, high_));
    }
    if (position < 0 || position >= size_ || weight == 0) return;
    taps->push_back({static_cast<int64_t>(position), weight});
  }

  double size_;
  Padding padding_;
  bool align_corners_;
  double low_;
  double high_;
};

Padding ReadPadding(const Attributes& attrs) {
  const std::string mode = attrs.String("padding_mode", "zeros");
  return mode == "border" ? Padding::kBorder : mode == "reflection" ? Padding::kReflection : Padding::kZeros;
}

// The flat positions in the input and their weights, for one point of the grid [rank], whose first
// coordinate is for the last axis.
std::vector<Tap> TapsOfPoint(const std::vector<SampledAxis>& axes, const Shape& in, const std::string& mode,
                             const double* point) {
  std::vector<Tap> taps = {{0, 1.0}};
  const size_t rank = axes.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    std::vector<Tap> extended;
    const std::vector<Tap> along = axes[axis].Taps(mode, point[rank - 1 - axis]);
    for (const Tap& prefix : taps) {
      for (const Tap& tap : along) {
        extended.push_back({prefix.index * in[axis] + tap.index, prefix.weight * tap.weight});
      }
    }
    taps = std::move(extended);
  }
  return taps;
}

}  // namespace

Outputs EvaluateGridSample(const Node& node, Inputs inputs) {
  const Shape& x_shape = inputs[0].shape();
  const Shape& grid_shape = inputs[1].shape();
  const Shape in(x_shape.begin() + 2, x_shape.end());
  const std::string mode = node.attrs().String("mode", "linear");
  std::vector<SampledAxis> axes;
  for (const int64_t size : in) {
    axes.emplace_back(size, ReadPadding(node.attrs()), node.attrs().Bool("align_corners"));
  }
  Shape shape = {x_shape[0], x_shape[1]};
  shape.insert(shape.end(), grid_shape.begin() + 1, grid_shape.end() - 1);
  ASSIGN_OR_RETURN(Tensor empty, NewTensor(inputs[0].dtype(), shape));
  // If the input is empty, every point is outside.
  if (empty.num_elements() == 0 || inputs[0].num_elements() == 0) return One(std::move(empty));

  const std::vector<double> x = Load<double>(inputs[0]);
  const std::vector<double> grid = Load<double>(inputs[1]);
  std::vector<double> out(static_cast<size_t>(empty.num_elements()), 0.0);
  const auto rank = static_cast<int64_t>(in.size());
  const int64_t channels = x_shape[1];
  const int64_t positions = CountElements(in);
  const int64_t points = CountElements(shape) / (x_shape[0] * channels);
  ParallelFor(x_shape[0] * points, [&](int64_t i) {
    const int64_t n = i / points;
    const std::vector<Tap> taps = TapsOfPoint(axes, in, mode, grid.data() + i * rank);
    for (int64_t c = n * channels; c < (n + 1) * channels; ++c) {
      double sum = 0;
      for (const Tap& tap : taps) sum += tap.weight * x[c * positions + tap.index];
      out[c * points + i % points] = sum;
    }
  });
  return One(Store(out, inputs[0].dtype(), shape));
}

}  // namespace attune::reference

#include "quant/parameters.h"

#include <algorithm>
#include <cmath>

#include "opt/rewrite.h"
#include "quant/cluster.h"

namespace attune::quant {
namespace {

double ToF32(double number) { return static_cast<double>(static_cast<float>(number)); }

// The number of contiguous elements with the same index along `axis`.
int64_t Inner(const Shape& shape, int axis) {
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
  return inner;
}

// Replaces each integer by the nearest center of the clusters; centers are rounded to integers, too.
void ClusterIntegers(std::span<int8_t> integers, int clusters) {
  const std::vector<float> values(integers.begin(), integers.end());
  std::vector<float> centers = KMeans(values, clusters);
  for (float& center : centers) center = std::nearbyint(center);
  for (int8_t& integer : integers) {
    const auto distance = [&](float center) { return std::abs(center - static_cast<float>(integer)); };
    integer = static_cast<int8_t>(*std::ranges::min_element(centers, {}, distance));
  }
}

}  // namespace

ActivationParameters ParametersFor(const Range& range) {
  constexpr double kSteps = 255;
  const double low = std::min(range.low, 0.0), high = std::max(range.high, 0.0);
  const double scale = ToF32((high - low) / kSteps);
  if (!(scale > 0) || !std::isfinite(scale)) return {};
  return {scale, std::clamp<int64_t>(std::llround(-low / scale), 0, static_cast<int64_t>(kSteps))};
}

QuantizedWeights QuantizeWeights(const Tensor& weights, int axis, std::span<const double> bias,
                                 double input_scale, int clusters) {
  constexpr double kLargest = 127, kLargestBias = 1 << 29;
  const auto channels = static_cast<size_t>(weights.shape()[static_cast<size_t>(axis)]);
  const auto inner = static_cast<size_t>(Inner(weights.shape(), axis));
  const std::span<const float> numbers = weights.as<float>();
  // Without channels, there are no weights.
  const auto channel_of = [&](size_t i) { return i / inner % std::max<size_t>(channels, 1); };
  QuantizedWeights result{Tensor(DType::kI8, weights.shape()), std::vector<double>(channels, 0)};
  for (size_t i = 0; i < numbers.size(); ++i) {
    double& largest = result.scale[channel_of(i)];
    largest = std::max<double>(largest, std::abs(numbers[i]));
  }
  for (size_t c = 0; c < channels; ++c) {
    double& scale = result.scale[c];
    const double for_bias = bias.empty() ? 0 : std::abs(bias[c]) / (input_scale * kLargestBias);
    scale = ToF32(std::max(scale / kLargest, for_bias));
    // All weights and the bias are zero, or there is NaN or infinity among the weights.
    if (!(scale > 0) || !std::isfinite(scale)) scale = 1;
  }
  const std::span<int8_t> integers = result.integers.as_mutable<int8_t>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double whole = std::nearbyint(numbers[i] / result.scale[channel_of(i)]);
    const double limited = std::isnan(whole) ? 0 : std::clamp(whole, -kLargest, kLargest);
    integers[i] = static_cast<int8_t>(limited);
  }
  if (clusters > 0 && std::ssize(integers) >= kLeastClustered) ClusterIntegers(integers, clusters);
  return result;
}

Tensor Dequantized(const QuantizedWeights& weights, int axis) {
  const std::span<const int8_t> integers = weights.integers.as<int8_t>();
  const auto inner = static_cast<size_t>(Inner(weights.integers.shape(), axis));
  Tensor numbers(DType::kF32, weights.integers.shape());
  const std::span<float> out = numbers.as_mutable<float>();
  for (size_t i = 0; i < integers.size(); ++i) {
    out[i] = static_cast<float>(integers[i] * weights.scale[i / inner % weights.scale.size()]);
  }
  return numbers;
}

Tensor Converted(const Tensor& tensor, DType dtype) {
  return FromDoubles(DType::kF32, tensor.shape(),
                     ToDoubles(FromDoubles(dtype, tensor.shape(), ToDoubles(tensor))));
}

}  // namespace attune::quant

// MobileNetV3: Howard et al., Searching for MobileNetV3, 2019, as in torchvision.
#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"
#include "zoo/squeeze_excite.h"

namespace attune {
namespace {

constexpr float kEpsilon = 1e-3f;

NetworkValue Relu(NetworkBuilder& b, const NetworkValue& x) { return b.Relu(x); }
NetworkValue HardSwish(NetworkBuilder& b, const NetworkValue& x) { return b.Node("HardSwish", {x}, x.shape); }
NetworkValue HardSigmoid(NetworkBuilder& b, const NetworkValue& x) {
  return b.Node("HardSigmoid", {x}, x.shape, {{"alpha", 1.0f / 6.0f}, {"beta", 0.5f}});
}

// Tables 1 and 2 of the paper.
struct Row {
  int64_t kernel, expanded, channels;
  bool gated;
  Activation activation;
  int64_t stride;
};

constexpr Row kLarge[] = {
    {3, 16, 16, false, Relu, 1},       {3, 64, 24, false, Relu, 2},       {3, 72, 24, false, Relu, 1},
    {5, 72, 40, true, Relu, 2},        {5, 120, 40, true, Relu, 1},       {5, 120, 40, true, Relu, 1},
    {3, 240, 80, false, HardSwish, 2}, {3, 200, 80, false, HardSwish, 1}, {3, 184, 80, false, HardSwish, 1},
    {3, 184, 80, false, HardSwish, 1}, {3, 480, 112, true, HardSwish, 1}, {3, 672, 112, true, HardSwish, 1},
    {5, 672, 160, true, HardSwish, 2}, {5, 960, 160, true, HardSwish, 1}, {5, 960, 160, true, HardSwish, 1}};

constexpr Row kSmall[] = {
    {3, 16, 16, true, Relu, 2},       {3, 72, 24, false, Relu, 2},      {3, 88, 24, false, Relu, 1},
    {5, 96, 40, true, HardSwish, 2},  {5, 240, 40, true, HardSwish, 1}, {5, 240, 40, true, HardSwish, 1},
    {5, 120, 48, true, HardSwish, 1}, {5, 144, 48, true, HardSwish, 1}, {5, 288, 96, true, HardSwish, 2},
    {5, 576, 96, true, HardSwish, 1}, {5, 576, 96, true, HardSwish, 1}};

NetworkValue ConvNorm(NetworkBuilder& b, const std::string& name, const NetworkValue& x, ConvOptions options,
                      double scale = 1.0) {
  options.pads = EvenPads((options.kernel[0] - 1) / 2);
  return b.BatchNorm(name + ".1", b.Conv(name + ".0", x, options), {.epsilon = kEpsilon, .scale = scale});
}

// The nearest multiple of 8 that is at most a tenth smaller.
int64_t DivisibleBy8(int64_t channels) {
  const int64_t rounded = std::max<int64_t>(8, (channels + 4) / 8 * 8);
  return 10 * rounded < 9 * channels ? rounded + 8 : rounded;
}

NetworkValue MobileBlock(NetworkBuilder& b, const std::string& name, const NetworkValue& x, const Row& row) {
  const double gain = row.activation == Relu ? kReluGain : kSiluGain;
  int next = 0;
  const auto part = [&] { return absl::StrCat(name, ".block.", next++); };
  NetworkValue y = x;
  if (row.expanded != x.shape[1]) {
    y = row.activation(b, ConvNorm(b, part(), y, {.channels = row.expanded, .gain = gain}));
  }
  y = row.activation(b, ConvNorm(b, part(), y,
                                 {.channels = row.expanded,
                                  .kernel = {row.kernel, row.kernel},
                                  .stride = row.stride,
                                  .groups = row.expanded,
                                  .gain = gain}));
  if (row.gated) {
    y = SqueezeExcite(b, part(), y, {DivisibleBy8(row.expanded / 4), Relu, HardSigmoid});
  }
  // The gates are about one half, which reduces the variance to about a quarter.
  const bool residual = row.stride == 1 && x.shape[1] == row.channels;
  y = ConvNorm(b, part(), y, {.channels = row.channels, .gain = (row.gated ? 3.6 : 1.0) * kLinearGain},
               residual ? 0.5 : 1.0);
  return residual ? b.Add(y, x) : y;
}

void BuildMobileNetV3(NetworkBuilder& b, std::span<const Row> rows, int64_t hidden) {
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = HardSwish(b, ConvNorm(b, "features.0", x, {.channels = 16, .kernel = {3, 3}, .stride = 2}));
  int index = 1;
  for (const Row& row : rows) x = MobileBlock(b, absl::StrCat("features.", index++), x, row);
  x = HardSwish(
      b, ConvNorm(b, absl::StrCat("features.", index), x, {.channels = 6 * x.shape[1], .gain = kSiluGain}));
  x = HardSwish(b, b.Linear("classifier.0", b.Flatten(b.GlobalAveragePool(x)), hidden, kSiluGain));
  b.Output(b.Linear("classifier.3", x, kImageNetClasses), "output");
}

}  // namespace

void BuildMobileNetV3Large(NetworkBuilder& b) { BuildMobileNetV3(b, kLarge, 1280); }

void BuildMobileNetV3Small(NetworkBuilder& b) { BuildMobileNetV3(b, kSmall, 1024); }

}  // namespace attune

// EfficientNet-B0: Tan and Le, EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks,
// 2019.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"
#include "zoo/squeeze_excite.h"

namespace attune {
namespace {

struct Stage {
  int64_t expansion, kernel, stride, channels, blocks;
};

NetworkValue Silu(NetworkBuilder& b, const NetworkValue& x) { return b.Mul(x, b.Sigmoid(x)); }
NetworkValue Sigmoid(NetworkBuilder& b, const NetworkValue& x) { return b.Sigmoid(x); }

NetworkValue ConvNormSilu(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                          ConvOptions options) {
  options.gain = kSiluGain;
  options.pads = EvenPads((options.kernel[0] - 1) / 2);
  return Silu(b, b.BatchNorm(name + ".1", b.Conv(name + ".0", x, options)));
}

NetworkValue MobileBlock(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                         const Stage& stage, int64_t stride) {
  const int64_t hidden = x.shape[1] * stage.expansion;
  int next = 0;
  const auto part = [&] { return absl::StrCat(name, ".block.", next++); };
  NetworkValue y = x;
  if (stage.expansion != 1) y = ConvNormSilu(b, part(), y, {.channels = hidden});
  y = ConvNormSilu(
      b, part(), y,
      {.channels = hidden, .kernel = {stage.kernel, stage.kernel}, .stride = stride, .groups = hidden});
  y = SqueezeExcite(b, part(), y, {std::max<int64_t>(1, x.shape[1] / 4), Silu, Sigmoid});
  // The gates are about one half, which reduces the variance to about a quarter.
  const std::string project = part();
  y = b.Conv(project + ".0", y, {.channels = stage.channels, .gain = 3.6 * kLinearGain});
  const bool residual = stride == 1 && x.shape[1] == stage.channels;
  y = b.BatchNorm(project + ".1", y, {.scale = residual ? 0.5 : 1.0});
  return residual ? b.Add(y, x) : y;
}

}  // namespace

void BuildEfficientNetB0(NetworkBuilder& b) {
  constexpr Stage kStages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                               {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = ConvNormSilu(b, "features.0", x, {.channels = 32, .kernel = {3, 3}, .stride = 2});
  int index = 1;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = MobileBlock(b, absl::StrCat("features.", index, ".", i), x, stage, i == 0 ? stage.stride : 1);
    }
    ++index;
  }
  x = ConvNormSilu(b, "features.8", x, {.channels = 1280});
  b.Output(b.Linear("classifier.1", b.Flatten(b.GlobalAveragePool(x)), kImageNetClasses), "output");
}

}  // namespace attune

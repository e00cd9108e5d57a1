// RegNet: Radosavovic et al., Designing Network Design Spaces, 2020, as in torchvision.
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "zoo/networks.h"
#include "zoo/squeeze_excite.h"

namespace attune {
namespace {

constexpr double kBranchScale = 0.5;

struct RegNet {
  std::array<int64_t, 4> widths;
  std::array<int, 4> depths;
  int64_t group_width;
  bool gated;  // RegNetY: squeeze and excitation, with a quarter of the block's input channels
};

NetworkValue Relu(NetworkBuilder& b, const NetworkValue& x) { return b.Relu(x); }
NetworkValue Sigmoid(NetworkBuilder& b, const NetworkValue& x) { return b.Sigmoid(x); }

NetworkValue ConvNorm(NetworkBuilder& b, const std::string& name, const NetworkValue& x,
                      const ConvOptions& options, double scale = 1.0) {
  return b.BatchNorm(name + ".1", b.Conv(name + ".0", x, options), {.scale = scale});
}

NetworkValue Block(NetworkBuilder& b, const std::string& name, const NetworkValue& x, int64_t width,
                   int64_t stride, const RegNet& net) {
  NetworkValue shortcut = x;
  if (stride > 1 || x.shape[1] != width) {
    shortcut = ConvNorm(b, name + ".proj", x, {.channels = width, .stride = stride, .gain = kLinearGain});
  }
  NetworkValue y = b.Relu(ConvNorm(b, name + ".f.a", x, {.channels = width}));
  y = b.Relu(ConvNorm(b, name + ".f.b", y,
                      {.channels = width,
                       .kernel = {3, 3},
                       .stride = stride,
                       .pads = EvenPads(1),
                       .groups = width / net.group_width}));
  double gain = kReluGain;
  if (net.gated) {
    const int64_t squeezed = std::lround(0.25 * static_cast<double>(x.shape[1]));
    y = SqueezeExcite(b, name + ".f.se", y, {squeezed, Relu, Sigmoid});
    gain *= 3.6;  // the gates are about one half
  }
  y = ConvNorm(b, name + ".f.c", y, {.channels = width, .gain = gain}, kBranchScale);
  return b.Relu(b.Add(shortcut, y));
}

void BuildRegNet(NetworkBuilder& b, const RegNet& net) {
  NetworkValue x = b.Input("input", {b.batch(), 3, 224, 224});
  x = b.Relu(ConvNorm(b, "stem", x, {.channels = 32, .kernel = {3, 3}, .stride = 2, .pads = EvenPads(1)}));
  for (size_t stage = 0; stage < net.widths.size(); ++stage) {
    for (int i = 0; i < net.depths[stage]; ++i) {
      const std::string name = absl::StrCat("trunk_output.block", stage + 1, ".block", stage + 1, "-", i);
      x = Block(b, name, x, net.widths[stage], i == 0 ? 2 : 1, net);
    }
  }
  b.Output(b.Linear("fc", b.Flatten(b.GlobalAveragePool(x)), kImageNetClasses), "output");
}

}  // namespace

void BuildRegNetX400MF(NetworkBuilder& b) { BuildRegNet(b, {{32, 64, 160, 400}, {1, 2, 7, 12}, 16, false}); }

void BuildRegNetY400MF(NetworkBuilder& b) { BuildRegNet(b, {{48, 104, 208, 440}, {1, 3, 6, 6}, 8, true}); }

}  // namespace attune
